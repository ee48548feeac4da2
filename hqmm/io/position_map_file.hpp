// The file of positions "map:FILE": one set number per line or blank, see data/position_plan.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hqmm::detail {

/// Throws kNoInput, and kBadData with the place of what is not a number, or for a file without any.
[[nodiscard]] std::vector<std::uint32_t> read_position_map(const std::string& path);

}  // namespace hqmm::detail
