#include "hqmm/engine/windows/window_tile.hpp"

#include <algorithm>

namespace hqmm::detail {

const std::vector<std::uint32_t>& WindowTile::codes(std::size_t length) {
  const auto known = std::find_if(codes_.begin(), codes_.end(),
                                  [&](const auto& entry) { return entry.first == length; });
  if (known != codes_.end()) return known->second;
  std::uint64_t words = 1;
  for (std::size_t i = 0; i < length; ++i) words *= alphabet_size_;
  std::vector<std::uint32_t> out(symbols_.size(), kNoCode);
  std::uint64_t code = 0;
  std::size_t run = 0;  // symbols since the last unknown one
  for (std::size_t t = 0; t < symbols_.size(); ++t) {
    const bool unknown = symbols_[t] >= alphabet_size_;
    run = unknown ? 0 : run + 1;
    code = unknown ? 0 : (code * alphabet_size_ + symbols_[t]) % words;
    if (run >= length) out[t + 1 - length] = static_cast<std::uint32_t>(code);
  }
  return codes_.emplace_back(length, std::move(out)).second;
}

}  // namespace hqmm::detail
