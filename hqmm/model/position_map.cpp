#include "hqmm/model/position_map.hpp"

#include <numeric>

namespace hqmm {
using namespace detail;

PositionMap PositionMap::each(std::size_t length, Anchor anchor) {
  std::vector<std::uint32_t> set_of(length);
  std::iota(set_of.begin(), set_of.end(), 0U);
  return PositionMap(std::move(set_of), anchor);
}

}  // namespace hqmm
