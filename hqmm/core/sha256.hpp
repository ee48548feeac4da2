// SHA-256 (FIPS 180-4), by nettle: tells whether a file is the published one.
#pragma once

#include <string>
#include <string_view>

namespace hqmm::detail {

/// 64 hexadecimal digits, lower case.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace hqmm::detail
