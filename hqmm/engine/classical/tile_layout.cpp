#include "hqmm/engine/classical/tile_layout.hpp"

#include <algorithm>

namespace hqmm::detail {
namespace {

/// By falling length; equal lengths stay in order. Lengths are counted where they are short: a
/// million short sequences take no longer to go through than to sort.
std::vector<std::size_t> by_falling_length(const SequenceSet& set) {
  constexpr std::size_t kCounted = 1 << 16;
  const std::size_t most = std::min(set.longest(), kCounted);
  const auto bucket = [&](std::size_t i) { return most - std::min(set[i].size(), most); };
  std::vector<std::size_t> next(most + 2, 0);  // where the next sequence of a bucket goes
  for (std::size_t i = 0; i < set.size(); ++i) ++next[bucket(i) + 1];
  for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  std::vector<std::size_t> order(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) order[next[bucket(i)]++] = i;
  if (most == kCounted) {
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(next[0]),
                     [&](std::size_t a, std::size_t b) { return set[a].size() > set[b].size(); });
  }
  return order;
}

}  // namespace

TileLayout::TileLayout(const SequenceSet& set, std::size_t tile_slots, std::size_t part_symbols,
                       std::span<const char> left_out)
    : order_(by_falling_length(set)) {
  if (!left_out.empty()) std::erase_if(order_, [&](std::size_t i) { return left_out[i] != 0; });
  while (!order_.empty() && set[order_.back()].empty()) order_.pop_back();
  std::size_t symbols = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    symbols += set[order_[i]].size();
    const bool tile_full = (i + 1 - bounds_.back()) % tile_slots == 0;
    if (i + 1 == order_.size() || (tile_full && symbols >= part_symbols)) {
      bounds_.push_back(i + 1);
      symbols = 0;
    }
  }
}

}  // namespace hqmm::detail
