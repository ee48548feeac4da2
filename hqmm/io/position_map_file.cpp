#include "hqmm/io/position_map_file.hpp"

#include <charconv>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/byte_source.hpp"

namespace hqmm::detail {

std::vector<std::uint32_t> read_position_map(const std::string& path) {
  std::vector<std::uint32_t> out;
  const std::string text = read_all(path);
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    if (std::string_view(" \t\r\n,").find(*at) != std::string_view::npos) {
      ++at;
      continue;
    }
    std::uint32_t set = 0;
    const auto [stop, failure] = std::from_chars(at, end, set);
    if (failure != std::errc()) {
      throw fail(ErrorCode::kBadData,
                 {path, {}, {}, static_cast<std::uint64_t>(at - text.data()), {}},
                 "expected the number of a set");
    }
    out.push_back(set);
    at = stop;
  }
  if (out.empty()) throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}}, "the map is empty");
  return out;
}

}  // namespace hqmm::detail
