#include "hqmm/engine/cuda/small_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/engine/cuda/cuda_errors.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kMostTiles = 512;  // of a part,
constexpr std::size_t kFewTiles = 128;   // which is what it takes to keep a GPU busy
constexpr std::size_t kMostItems = std::size_t{1} << 30;
constexpr std::size_t kSegmentUnit = 16;  // a segment begins with a rescaling

/// The largest number of steps S with S · item + (longest / S) · state <= room, for one sequence;
/// 0 when there is none.
std::size_t most_segment_steps(double room, std::size_t longest, const SmallRoom& bytes) {
  const auto item = static_cast<double>(bytes.item_bytes);
  const double states =
      static_cast<double>(longest + kSegmentUnit) * static_cast<double>(bytes.state_bytes);
  const double under_root = room * room - 4.0 * item * states;
  if (under_root < 0.0) return 0;
  const auto steps = static_cast<std::size_t>((room + std::sqrt(under_root)) / (2.0 * item));
  return steps / kSegmentUnit * kSegmentUnit;
}

void order_by_length(std::vector<SmallSequence>& sequences) {
  const auto longer = [](const SmallSequence& a, const SmallSequence& b) {
    return a.length > b.length;
  };
  if (!std::is_sorted(sequences.begin(), sequences.end(), longer))
    std::stable_sort(sequences.begin(), sequences.end(), longer);
}

class Cutter {
 public:
  Cutter(const SmallRoom& room, SmallPlan& plan) : room_(room), plan_(plan) {
    most_items_ = std::min(kMostItems, room.memory / room.item_bytes);
  }

  void cut() {
    for (std::size_t first = 0; first < plan_.sequences.size();) {
      SmallPart part = begin_part(first);
      if (!take_whole(part)) take_segments(part);
      plan_.parts.push_back(part);
      first += part.count;
    }
  }

 private:
  SmallPart begin_part(std::size_t first) const {
    SmallPart part;
    part.first = first;
    part.width = std::min(kSmallTile, std::bit_ceil(plan_.sequences.size() - first));
    part.first_tile = plan_.tile_first.size();
    part.longest = plan_.sequences[first].length;
    return part;
  }

  /// Tiles with all of their steps: as many as fit, but not less than keep the GPU busy.
  bool take_whole(SmallPart& part) {
    const std::size_t left = plan_.sequences.size() - part.first;
    while (part.tiles < kMostTiles && part.count < left) {
      const std::size_t items = plan_.sequences[part.first + part.count].length * part.width;
      if (part.items + items > most_items_) break;
      plan_.tile_first.push_back(part.items);
      part.items += items;
      part.count += std::min(part.width, left - part.count);
      ++part.tiles;
    }
    part.whole = part.count == left || part.tiles >= kFewTiles;
    part.segment_steps = part.longest;
    if (!part.whole) plan_.tile_first.resize(part.first_tile);
    return part.whole;
  }

  void take_segments(SmallPart& part) {
    const std::size_t left = plan_.sequences.size() - part.first;
    part.tiles = std::min(kFewTiles, (left + part.width - 1) / part.width);
    for (;; part.tiles /= 2) {
      const std::size_t together = part.tiles * part.width;
      if (part.tiles == 0) fail(part);
      const double each = static_cast<double>(room_.memory) / static_cast<double>(together);
      part.segment_steps = std::min(most_segment_steps(each, part.longest, room_),
                                    kMostItems / together / kSegmentUnit * kSegmentUnit);
      if (part.segment_steps > 0) break;
    }
    part.count = std::min(left, part.tiles * part.width);
    for (std::size_t tile = 0; tile < part.tiles; ++tile)
      plan_.tile_first.push_back(tile * part.segment_steps * part.width);
    part.items = part.tiles * part.segment_steps * part.width;
  }

  [[noreturn]] void fail(const SmallPart& part) const {
    const auto states = static_cast<double>((part.longest + kSegmentUnit) * room_.state_bytes);
    const double each = 2.0 * std::sqrt(static_cast<double>(room_.item_bytes) * states) +
                        static_cast<double>(kSegmentUnit * room_.item_bytes);
    throw_gpu_memory(static_cast<std::size_t>(each) * part.width, room_.memory);
  }

  SmallRoom room_;
  SmallPlan& plan_;
  std::size_t most_items_ = 0;
};

}  // namespace

void cut_small_plan(const SmallRoom& room, SmallPlan& plan) {
  plan.tile_first.clear();
  plan.parts.clear();
  order_by_length(plan.sequences);
  Cutter(room, plan).cut();
}

std::size_t steps_within(const SmallPlan& plan, const SmallPart& part, std::size_t begin,
                         std::size_t end) {
  std::size_t steps = 0;
  for (std::size_t b = part.first; b < part.first + part.count; ++b) {
    const std::size_t length = plan.sequences[b].length;
    if (length <= begin) break;
    steps += std::min(length, end) - begin;
  }
  return steps;
}

}  // namespace hqmm::detail
