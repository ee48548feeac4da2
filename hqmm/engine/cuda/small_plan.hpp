// How SmallPass cuts a batch: what goes up to the GPU, and the order of its work. Nothing here
// needs CUDA.
//
// Sequences are ordered by length, the longest first, and lie in tiles of `width` of them. Step t
// of the sequence q of a tile is item first + t · width + q, so that neighbours are read together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hqmm::detail {

inline constexpr std::size_t kSmallTile = 32;  // sequences of a tile, at most

struct SmallSequence {
  std::uint64_t symbols = 0;  // address on the GPU
  double weight = 1.0;
  std::uint32_t length = 0;
  std::uint32_t place = 0;  // in the batch; the highest bit: two bytes a symbol

  static constexpr std::uint32_t kWide = 0x80000000;
};

/// Sequences that are walked together.
struct SmallPart {
  std::size_t first = 0, count = 0;
  std::size_t width = 0, tiles = 0;
  std::size_t first_tile = 0;  // in SmallPlan::tile_first
  std::size_t longest = 0;
  std::size_t segment_steps = 0;  // states are kept of so many steps
  std::size_t items = 0;          // of a segment
  /// One segment, in which a tile has the steps of its longest sequence; else each tile has all
  /// steps of the segment.
  bool whole = false;

  [[nodiscard]] std::size_t segments() const {
    return (longest + segment_steps - 1) / segment_steps;
  }
};

struct SmallPlan {
  std::vector<SmallSequence> sequences;   // none of them is empty
  std::vector<std::uint64_t> tile_first;  // of each part's tiles
  std::vector<SmallPart> parts;
};

struct SmallRoom {
  std::size_t memory = 0;
  std::size_t item_bytes = 1;   // of a step of a sequence,
  std::size_t state_bytes = 0;  // of a state that begins a segment
};

/// Orders plan.sequences and cuts them. Throws kUsage when the memory does not do.
void cut_small_plan(const SmallRoom& room, SmallPlan& plan);

/// Steps of a part's sequences that lie in [begin, end).
[[nodiscard]] std::size_t steps_within(const SmallPlan& plan, const SmallPart& part,
                                       std::size_t begin, std::size_t end);

}  // namespace hqmm::detail
