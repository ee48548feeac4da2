// Symbol sets: what a letter such as R (A or G) stands for.
//
// The biological alphabets number their sets from size() on, after the symbols themselves. A model
// gives a set the sum of its members' probabilities, as it gives a missing symbol the sum of all.
// Which numbers are sets depends on the size of an alphabet alone: all that a model knows of its
// own.
#pragma once

#include <span>
#include <string_view>

#include "hqmm/core/types.hpp"

namespace hqmm {

/// The symbols of a set, ascending; of one symbol, that symbol, which must live as long. Empty when
/// the number is neither.
[[nodiscard]] std::span<const Symbol> members(std::size_t alphabet_size,
                                              const Symbol& symbol) noexcept;

/// The letters of the sets of nucleotides or of amino acids, in the order of their numbers.
[[nodiscard]] std::string_view set_letters(std::size_t alphabet_size) noexcept;

}  // namespace hqmm
