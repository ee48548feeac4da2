// Whether text could be symbols: what format detection and header rows are judged by.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hqmm/data/alphabet.hpp"

namespace hqmm::detail {

/// The pieces between blanks, tabs and commas.
[[nodiscard]] std::vector<std::string_view> tokens_of(std::string_view text);
/// Letters, gaps, stops and '?' only.
[[nodiscard]] bool is_letters(std::string_view text);
/// Digits, with or without a sign.
[[nodiscard]] bool is_integer(std::string_view text);
/// Could be a symbol, or several unseparated ones of a single-letter alphabet. Any number counts
/// where symbols are numbers: one outside the alphabet is a mistake to report, not a word.
[[nodiscard]] bool is_symbol(std::string_view token, const std::optional<Alphabet>& alphabet);
/// Has tokens, and every one of them could be a symbol.
[[nodiscard]] bool all_symbols(std::string_view text, const std::optional<Alphabet>& alphabet);

}  // namespace hqmm::detail
