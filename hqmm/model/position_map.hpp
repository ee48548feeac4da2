// PositionMap: which Kraus set acts at which position of a sequence.
//
// A stationary model is the map with one entry. Beyond its end the nearest entry applies, so
// a map of length L serves sequences of any length: counted from the start (the last entry applies
// to all later positions) or from the end (the first entry applies to all earlier ones).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

/// A plain value: any number of threads may read it at a time.
class PositionMap {
 public:
  enum class Anchor { kStart, kEnd };

  /// One set for every position.
  PositionMap() = default;
  /// set_of[t] is the set of position t; not empty.
  explicit PositionMap(std::vector<std::uint32_t> set_of, Anchor anchor = Anchor::kStart)
      : set_of_(std::move(set_of)), anchor_(anchor) {}
  /// A separate set for each of `length` positions.
  static PositionMap each(std::size_t length, Anchor anchor = Anchor::kStart);

  [[nodiscard]] bool stationary() const noexcept { return set_of_.size() == 1; }
  [[nodiscard]] Anchor anchor() const noexcept { return anchor_; }
  [[nodiscard]] const std::vector<std::uint32_t>& entries() const noexcept { return set_of_; }
  [[nodiscard]] std::size_t set_count() const noexcept {
    return std::size_t{1} + *std::max_element(set_of_.begin(), set_of_.end());
  }
  /// The set at position t (0-based) of a sequence of `length` symbols; the length matters only
  /// when the map is anchored at the end. After the end of the sequence, for predictions, the last
  /// entry applies.
  [[nodiscard]] std::uint32_t set_at(std::size_t t, std::size_t length) const noexcept {
    const std::size_t last = set_of_.size() - 1;
    if (last == 0) return set_of_[0];
    if (anchor_ == Anchor::kStart) return set_of_[std::min(t, last)];
    const std::size_t to_end = t < length ? length - 1 - t : 0;
    return set_of_[to_end >= last ? 0 : last - to_end];
  }

  friend bool operator==(const PositionMap&, const PositionMap&) = default;

 private:
  std::vector<std::uint32_t> set_of_{0};
  Anchor anchor_ = Anchor::kStart;
};

}  // namespace hqmm
