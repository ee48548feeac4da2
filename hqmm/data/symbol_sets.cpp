#include "hqmm/data/symbol_sets.hpp"

#include <array>

namespace hqmm::detail {
namespace {

struct Set {
  char letter;
  std::array<Symbol, 3> symbols;
  std::size_t size;
};

// A C G T (or U) are 0 1 2 3.
constexpr std::array<Set, 10> kNucleotides{{{'R', {0, 2}, 2},
                                            {'Y', {1, 3}, 2},
                                            {'S', {1, 2}, 2},
                                            {'W', {0, 3}, 2},
                                            {'K', {2, 3}, 2},
                                            {'M', {0, 1}, 2},
                                            {'B', {1, 2, 3}, 3},
                                            {'D', {0, 2, 3}, 3},
                                            {'H', {0, 1, 3}, 3},
                                            {'V', {0, 1, 2}, 3}}};

// Amino acids are ordered by letter: ACDEFGHIKLMNPQRSTVWY.
constexpr std::array<Set, 3> kAminoAcids{{
    {'B', {2, 11}, 2},  // D or N
    {'Z', {3, 13}, 2},  // E or Q
    {'J', {7, 9}, 2},   // I or L
}};

std::span<const Set> sets_of(std::size_t alphabet_size) {
  if (alphabet_size == 4) return kNucleotides;
  if (alphabet_size == 20) return kAminoAcids;
  return {};
}

template <std::size_t N>
constexpr std::array<char, N> letters_of(const std::array<Set, N>& sets) {
  std::array<char, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = sets[i].letter;
  return out;
}

constexpr auto kNucleotideLetters = letters_of(kNucleotides);
constexpr auto kAminoAcidLetters = letters_of(kAminoAcids);

}  // namespace

SymbolMembers members(std::size_t alphabet_size, Symbol symbol) noexcept {
  if (symbol < alphabet_size) return {{symbol}, 1};
  const std::span<const Set> sets = sets_of(alphabet_size);
  if (symbol - alphabet_size >= sets.size()) return {};
  const Set& found = sets[symbol - alphabet_size];
  return {found.symbols, found.size};
}

std::string_view set_letters(std::size_t alphabet_size) noexcept {
  if (alphabet_size == 4) return {kNucleotideLetters.data(), kNucleotideLetters.size()};
  if (alphabet_size == 20) return {kAminoAcidLetters.data(), kAminoAcidLetters.size()};
  return {};
}

}  // namespace hqmm::detail
