// Which codes stand for which symbols.
#include "hqmm/data/symbol_sets.hpp"

#include <gtest/gtest.h>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {
namespace {

TEST(SymbolSets, AreTheCodesOfNucleotidesAndAminoAcids) {
  const auto letters_of = [](const Alphabet& alphabet, char code) {
    std::string out;
    const std::optional<Symbol> set = alphabet.set_of(code);
    if (set)
      for (const Symbol y : members(alphabet.size(), *set)) out += alphabet.token(y);
    return out;
  };
  const std::vector<std::pair<char, std::string>> dna_codes{
      {'R', "AG"},  {'Y', "CT"},  {'S', "CG"},  {'W', "AT"},  {'K', "GT"}, {'M', "AC"},
      {'B', "CGT"}, {'D', "AGT"}, {'H', "ACT"}, {'V', "ACG"}, {'r', "AG"}};
  for (const auto& [code, letters] : dna_codes)
    EXPECT_EQ(letters_of(Alphabet::dna(), code), letters) << code;
  EXPECT_EQ(letters_of(Alphabet::rna(), 'W'), "AU");
  EXPECT_EQ(letters_of(Alphabet::protein(), 'B'), "DN");
  EXPECT_EQ(letters_of(Alphabet::protein(), 'Z'), "EQ");
  EXPECT_EQ(letters_of(Alphabet::protein(), 'j'), "IL");
  for (const char any : {'N', 'X', '-', 'A', '?'})
    EXPECT_FALSE(Alphabet::dna().set_of(any)) << any << " stands for one symbol or for all";
  EXPECT_FALSE(Alphabet::tokens({"a", "b", "c", "d"}).set_of('R'));
}

TEST(SymbolSets, OnlyTheirAlphabetsKnowThem) {
  EXPECT_TRUE(Alphabet::dna().knows(13));
  EXPECT_FALSE(Alphabet::dna().knows(14));
  EXPECT_FALSE(Alphabet::integers(4).knows(4));
  EXPECT_TRUE(Alphabet::protein().knows(22));
  EXPECT_FALSE(Alphabet::protein().knows(23));
  EXPECT_EQ(Alphabet::dna().token(4), "R");
}

TEST(SymbolSets, AreFoundInNarrowAndInWideBlocks) {
  for (const Symbol other : {Symbol{0}, Symbol{300}}) {  // the second makes the block wide
    const SequenceSet set(Alphabet::integers(301),
                          {{0, 3, kMissing, other}, {0, 4}, {13}, {14}, {}});
    for (const auto& [index, expected] :
         {std::pair{0, false}, std::pair{1, true}, std::pair{2, true}, std::pair{3, false},
          std::pair{4, false}}) {
      EXPECT_EQ(set[static_cast<std::size_t>(index)].has_sets(4), expected) << index;
      EXPECT_FALSE(set[static_cast<std::size_t>(index)].has_sets(5)) << "no sets of five symbols";
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
