// WindowTile: a few thousand windows of one stretch of symbols, which all models look at in turn.
//
// Windows begin at 0, step, 2·step … of the stretch. A word's code is its symbols as a number in
// base s (word_tables.hpp); words of one length are numbered once for all models.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

class WindowTile {
 public:
  /// A word with a missing symbol has no code.
  static constexpr std::uint32_t kNoCode = 0xFFFFFFFF;

  /// Symbols below alphabet_size, or missing; they must outlive the tile. Every window lies in
  /// them: (count − 1)·step + window ≤ symbols.size().
  WindowTile(std::span<const Symbol> symbols, std::size_t alphabet_size, std::size_t window,
             std::size_t step, std::size_t count)
      : symbols_(symbols),
        alphabet_size_(alphabet_size),
        window_(window),
        step_(step),
        count_(count) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t window() const { return window_; }
  [[nodiscard]] std::size_t begin_of(std::size_t i) const { return i * step_; }
  [[nodiscard]] std::span<const Symbol> symbols_of(std::size_t i) const {
    return symbols_.subspan(begin_of(i), window_);
  }
  /// The code of the word of `length` symbols that begins at each position.
  [[nodiscard]] const std::vector<std::uint32_t>& codes(std::size_t length);

 private:
  std::span<const Symbol> symbols_;
  std::size_t alphabet_size_, window_, step_, count_;
  std::deque<std::pair<std::size_t, std::vector<std::uint32_t>>> codes_;
};

}  // namespace hqmm::detail
