// Symbol sets: what a letter such as R (A or G) stands for.
//
// The biological alphabets number their sets from size() on, after the symbols themselves. A model
// gives a set the sum of its members' probabilities, as it gives a missing symbol the sum of all.
// Which numbers are sets depends on the size of an alphabet alone: all that a model knows of its
// own.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// A few symbols, ascending.
class SymbolMembers {
 public:
  constexpr SymbolMembers() = default;
  constexpr SymbolMembers(std::array<Symbol, 3> symbols, std::size_t size)
      : symbols_(symbols), size_(size) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr Symbol operator[](std::size_t i) const noexcept { return symbols_[i]; }
  [[nodiscard]] constexpr const Symbol* begin() const noexcept { return symbols_.data(); }
  [[nodiscard]] constexpr const Symbol* end() const noexcept { return symbols_.data() + size_; }

 private:
  std::array<Symbol, 3> symbols_{};
  std::size_t size_ = 0;
};

/// The symbols of a set; of one symbol, itself; none when the number is neither.
[[nodiscard]] SymbolMembers members(std::size_t alphabet_size, Symbol symbol) noexcept;

/// The letters of the sets of nucleotides or of amino acids, in the order of their numbers.
[[nodiscard]] std::string_view set_letters(std::size_t alphabet_size) noexcept;

}  // namespace hqmm::detail
