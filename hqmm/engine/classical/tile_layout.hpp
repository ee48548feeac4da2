// TileLayout: which sequences of a set move along together, and how the work is cut for threads.
//
// Sequences are ordered by falling length, so that the few of a tile end at about the same time.
// The cut follows from the data and the shape of the model alone, never from the number of threads.
#pragma once

#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

class TileLayout {
 public:
  /// Parts have at least part_symbols symbols each where the set has that many. Of the sequences
  /// those with a `left_out` that is not zero are in none; an empty one leaves out nothing.
  TileLayout(const SequenceSet& set, std::size_t tile_slots, std::size_t part_symbols,
             std::span<const char> left_out = {});

  [[nodiscard]] std::size_t parts() const noexcept { return bounds_.size() - 1; }
  /// The sequences of a part, in order: tiles are cut from its front, the last may be smaller.
  [[nodiscard]] std::span<const std::size_t> part(std::size_t i) const noexcept {
    return std::span(order_).subspan(bounds_[i], bounds_[i + 1] - bounds_[i]);
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<std::size_t> bounds_{0};
};

}  // namespace hqmm::detail
