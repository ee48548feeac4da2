// Whole files written so that a crash, a full disk or a kill leaves the old file or the new one,
// never half of either: temporary file in the same folder, write, fsync, rename, fsync of the
// folder.
#pragma once

#include <string>
#include <string_view>

namespace hqmm::detail {

/// Throws kCannotWrite naming the path and the reason; the temporary file is removed then. What a
/// kill has left in the folder is cleared away. A device, a pipe and an open file (/dev/stdout,
/// /proc/self/fd/3) are written to directly, after what is in them.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace hqmm::detail
