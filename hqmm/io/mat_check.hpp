// Whether a MATLAB 5 file is sound. matio reads what a truncated file lacks as zeros, without a
// word, and follows a damaged size for minutes; so the structure of every variable, its announced
// sizes against the bytes that are there, and the checksums of packed ones are verified before
// matio sees them.
#pragma once

#include <string>
#include <string_view>

namespace hqmm::detail {

/// Throws kBadData unless this is a MATLAB file of version 5, 6 or 7: the bytes that
/// matio looks at when it opens a file. Version 4, which has nothing to tell it from other bytes
/// by, is refused.
void require_mat5_header(std::string_view bytes, const std::string& file);

/// Throws kBadData with the byte where the damaged variable starts, or when this is not such a
/// file.
void check_mat5(std::string_view bytes, const std::string& file);

}  // namespace hqmm::detail
