// PositionPlan: which positions of a sequence share parameters, as a user writes it down.
//
//   stationary            one set for all positions
//   each                  a separate set for every position of the longest sequence
//   window:A-B,tie=K      positions A..B (0-based, both included) have their own sets; outside,
//                         stretches of K positions share one, counted away from the window
//   map:FILE              one set number per line or blank, for positions 0, 1, 2, …; the last one
//                         applies to all later positions
//
// The anchor is the end of a sequence from which positions are counted: at the end, position 0 is
// the last symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

struct PositionPlan {
  enum class Kind { kStationary, kEach, kWindow, kMap };
  Kind kind = Kind::kStationary;
  std::size_t first = 0, last = 0;  // kWindow
  std::size_t tie = 5;              // kWindow
  std::string file;                 // kMap: where it came from, for provenance
  std::vector<std::uint32_t> map;   // kMap: read by the caller that opens files
  bool from_end = false;            // the anchor

  /// Everything but the anchor; a map's FILE is not opened. Throws kUsage with what was expected.
  static PositionPlan parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  /// The set of each symbol of a sequence of `length`, from its first to its last whatever the
  /// anchor, numbered from 0 in order of first appearance. Throws kUsage for a window beyond the
  /// end or a map that is empty.
  [[nodiscard]] std::vector<std::uint32_t> sets(std::size_t length) const;

  friend bool operator==(const PositionPlan&, const PositionPlan&) = default;
};

}  // namespace hqmm
