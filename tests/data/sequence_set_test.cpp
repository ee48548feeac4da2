#include "hqmm/data/sequence_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hqmm/core/error.hpp"
#include "support/property.hpp"

namespace hqmm::detail {
namespace {

using Symbols = std::vector<Symbol>;

SymbolBlock block_of(const Symbols& symbols) {
  SymbolBlock block;
  for (const Symbol symbol : symbols) block.push_back(symbol);
  return block;
}

Symbols contents(const SymbolBlock& block) {
  return SequenceView(block, 0, block.size()).to_vector();
}

TEST(SymbolBlock, StaysNarrowUpTo254) {
  const Symbols symbols = {0, 1, 253, 254, kMissing};
  const SymbolBlock block = block_of(symbols);
  EXPECT_FALSE(block.wide());
  EXPECT_EQ(contents(block), symbols);
  EXPECT_EQ(block.bytes()[3], 254);
  EXPECT_EQ(block.bytes()[4], SymbolBlock::kMissingByte);
}

TEST(SymbolBlock, WidensAt255AndKeepsWhatIsMissing) {
  SymbolBlock block = block_of({7, kMissing, 254});
  block.push_back(255);
  EXPECT_TRUE(block.wide());
  block.push_back(kMissing);
  block.push_back(65534);
  block.push_back(3);
  EXPECT_EQ(contents(block), (Symbols{7, kMissing, 254, 255, kMissing, 65534, 3}));
  EXPECT_EQ(block.wide_data()[1], kMissing);
}

TEST(SymbolBlock, SerialSaysWhatTheSymbolsAre) {
  EXPECT_EQ(SymbolBlock().serial(), 0U);
  SymbolBlock block = block_of({1, 2, 3});
  const std::uint64_t serial = block.serial();
  EXPECT_NE(serial, 0U);
  EXPECT_NE(block_of({1, 2, 3}).serial(), serial);
  const SymbolBlock copy = block;
  EXPECT_NE(copy.serial(), serial);
  block.push_back(4);  // what was there is still there
  EXPECT_EQ(block.serial(), serial);
  const SymbolBlock moved = std::move(block);
  EXPECT_EQ(moved.serial(), serial);
}

TEST(SymbolBlock, MissingAloneDoesNotWiden) {
  EXPECT_FALSE(block_of(Symbols(5000, kMissing)).wide());
}

HQMM_PROPERTY(SymbolBlock, GivesBackWhatWasPushed) {
  const auto largest = draw.one_of<std::size_t>({4, 254, 255, 65535});  // 65535 is kMissing
  Symbols symbols(draw.length());
  for (Symbol& symbol : symbols) symbol = static_cast<Symbol>(draw.between(0, largest));
  const SymbolBlock block = block_of(symbols);
  HQMM_HOLDS(contents(block) == symbols);
  HQMM_HOLDS(block.wide() == std::any_of(symbols.begin(), symbols.end(), [](Symbol s) {
               return s > SymbolBlock::kLargestNarrow && s != kMissing;
             }));
}

TEST(SymbolBlock, CopiesAreIndependent) {
  for (const Symbol top : {Symbol{4}, Symbol{400}}) {
    SymbolBlock original = block_of({1, top});
    SymbolBlock copy = original;
    copy.push_back(2);
    original.push_back(300);
    EXPECT_EQ(contents(copy), (Symbols{1, top, 2}));
    EXPECT_EQ(contents(original), (Symbols{1, top, 300}));
    copy = original;
    EXPECT_EQ(contents(copy), contents(original));
    copy.push_back(9);
    EXPECT_EQ(original.size(), 3U);
    const SymbolBlock& itself = copy;
    copy = itself;
    EXPECT_EQ(contents(copy), (Symbols{1, top, 300, 9}));
  }
}

TEST(SymbolBlock, CopiesOfAnEmptyOneAreEmpty) {
  const SymbolBlock empty;
  SymbolBlock copy = empty;
  EXPECT_EQ(copy.size(), 0U);
  copy.push_back(1);
  EXPECT_EQ(contents(copy), Symbols{1});
  EXPECT_EQ(empty.size(), 0U);
}

TEST(SymbolBlock, Moves) {
  SymbolBlock block = block_of({1, 2, 300});
  const Symbol* data = block.wide_data();
  SymbolBlock moved = std::move(block);
  EXPECT_EQ(moved.wide_data(), data) << "a move copies nothing";
  SymbolBlock assigned = block_of({5});
  assigned = std::move(moved);
  EXPECT_EQ(contents(assigned), (Symbols{1, 2, 300}));
}

TEST(SymbolBlock, GrowsToMillionsAndWidensThere) {
  constexpr std::size_t kCount = 1'000'000;
  const auto expected = [](std::size_t i) {
    return static_cast<Symbol>(i % 7 == 3 ? kMissing : i % 251);
  };
  SymbolBlock block;
  for (std::size_t i = 0; i < kCount; ++i) block.push_back(expected(i));
  ASSERT_EQ(block.size(), kCount);
  ASSERT_FALSE(block.wide());
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(block[i], expected(i)) << i;
  block.push_back(1000);
  ASSERT_TRUE(block.wide());
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(block[i], expected(i)) << i;
  EXPECT_EQ(block[kCount], 1000);
}

TEST(SymbolBlock, TakesBytesWrittenByAReader) {
  SymbolBlock block = block_of({1});
  std::uint8_t* room = block.reserve_bytes(10'000);
  for (int i = 0; i < 10'000; ++i) room[i] = static_cast<std::uint8_t>(i % 4);
  room[2] = SymbolBlock::kMissingByte;
  block.commit(9'000);
  EXPECT_EQ(block.size(), 9'001U);
  EXPECT_EQ(block[0], 1);
  EXPECT_EQ(block[3], kMissing);
  EXPECT_EQ(block[9'000], 8'999 % 4);
  block.push_back(3);
  EXPECT_EQ(block[9'001], 3);
  (void)block.reserve_bytes(0);
  block.commit(0);
  EXPECT_EQ(block.size(), 9'002U);
}

TEST(SequenceView, IsAStretchOfTheBlock) {
  const SymbolBlock block = block_of({5, 6, 7, 8, 9});
  const SequenceView view(block, 1, 3);
  EXPECT_EQ(view.size(), 3U);
  EXPECT_EQ(view[0], 6);
  EXPECT_EQ(view.to_vector(), (Symbols{6, 7, 8}));
  EXPECT_EQ(view.part(1, 2).to_vector(), (Symbols{7, 8}));
  EXPECT_TRUE(view.part(3, 0).empty());
  EXPECT_TRUE(SequenceView().empty());
  EXPECT_EQ(SequenceView().to_vector(), Symbols{});
}

TEST(SequenceView, ComparesSymbolsWhateverTheirWidth) {
  const SymbolBlock narrow = block_of({1, 2, kMissing, 1, 2});
  const SymbolBlock wide = block_of({1, 2, kMissing, 300});
  EXPECT_EQ(SequenceView(narrow, 0, 3), SequenceView(wide, 0, 3));
  EXPECT_EQ(SequenceView(narrow, 0, 2), SequenceView(narrow, 3, 2));
  EXPECT_FALSE(SequenceView(narrow, 0, 2) == SequenceView(narrow, 0, 3));
  EXPECT_FALSE(SequenceView(narrow, 0, 2) == SequenceView(narrow, 1, 2));
}

TEST(SequenceSet, StartsEmpty) {
  const SequenceSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.symbol_count(), 0U);
  EXPECT_EQ(set.longest(), 0U);
  EXPECT_FALSE(set.labelled());
  EXPECT_FALSE(set.named());
}

HQMM_PROPERTY(SequenceSet, HoldsRaggedSequences) {
  std::vector<std::vector<std::uint8_t>> data(draw.length());
  for (auto& sequence : data) sequence = draw.bytes();
  std::vector<Symbols> sequences;
  std::size_t longest = 0;
  std::size_t count = 0;
  for (const auto& sequence : data) {
    sequences.emplace_back(sequence.begin(), sequence.end());
    longest = std::max(longest, sequence.size());
    count += sequence.size();
  }
  const SequenceSet set(Alphabet::integers(256), sequences);
  HQMM_HOLDS(set.size() == sequences.size());
  HQMM_HOLDS(set.longest() == longest);
  HQMM_HOLDS(set.symbol_count() == count);
  for (std::size_t i = 0; i < set.size(); ++i) HQMM_HOLDS(set[i].to_vector() == sequences[i]);
}

TEST(SequenceSet, IsBuiltSymbolBySymbol) {
  SequenceSet set(Alphabet::integers(4));
  set.push_back(1);
  set.push_back(2);
  EXPECT_EQ(set.open_length(), 2U);
  EXPECT_EQ(set.size(), 0U);
  EXPECT_EQ(set.symbol_count(), 0U) << "an open sequence does not count yet";
  set.end_sequence();
  set.end_sequence();
  set.append(set[0]);
  EXPECT_EQ(set.size(), 3U);
  EXPECT_EQ(set.open_length(), 0U);
  EXPECT_TRUE(set[1].empty());
  EXPECT_EQ(set[2], set[0]);
}

/// Sequences 0, 1, 2, 3 hold their own number; those with a label have it as their class.
SequenceSet labelled_set(const std::vector<const char*>& labels) {
  SequenceSet set(Alphabet::integers(10));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    set.push_back(static_cast<Symbol>(i));
    if (labels[i] == nullptr) {
      set.end_sequence();
    } else {
      set.end_sequence_labelled(labels[i]);
    }
  }
  return set;
}

TEST(SequenceSet, NumbersClassesByFirstAppearance) {
  const SequenceSet set = labelled_set({"EI", "N", "EI", "IE"});
  EXPECT_TRUE(set.labelled());
  EXPECT_EQ(set.classes(), (std::vector<std::string>{"EI", "N", "IE"}));
  EXPECT_EQ(set.label(0), 0U);
  EXPECT_EQ(set.label(1), 1U);
  EXPECT_EQ(set.label(2), 0U);
  EXPECT_EQ(set.label(3), 2U);
}

TEST(SequenceSet, SequencesWithoutALabelAreAllowedAnywhere) {
  const SequenceSet set = labelled_set({nullptr, "a", nullptr, nullptr});
  EXPECT_EQ(set.label(0), SequenceSet::kNoLabel);
  EXPECT_EQ(set.label(1), 0U);
  EXPECT_EQ(set.label(2), SequenceSet::kNoLabel);
  EXPECT_EQ(set.label(3), SequenceSet::kNoLabel);
  EXPECT_NE(set.hash(), labelled_set({nullptr, "a", nullptr, "a"}).hash());
  EXPECT_EQ(set.subset({3, 1}).label(0), SequenceSet::kNoLabel);
}

TEST(SequenceSet, NamesAreAllowedAnywhere) {
  SequenceSet set(Alphabet::integers(2));
  set.end_sequence();
  set.end_sequence();
  set.name_last("second");
  set.name_last("Second");
  set.end_sequence();
  ASSERT_TRUE(set.named());
  EXPECT_EQ(set.name(0), "");
  EXPECT_EQ(set.name(1), "Second");
  EXPECT_EQ(set.name(2), "");
}

TEST(SequenceSet, SubsetKeepsOrderLabelsAndNames) {
  SequenceSet set = labelled_set({"a", "b", "a", "c"});
  set.name_last("last");
  const SequenceSet part = set.subset({3, 0, 3});
  ASSERT_EQ(part.size(), 3U);
  EXPECT_EQ(part[0].to_vector(), Symbols{3});
  EXPECT_EQ(part[1].to_vector(), Symbols{0});
  EXPECT_EQ(part.classes(), set.classes()) << "class numbers mean the same in a subset";
  EXPECT_EQ(part.label(0), 2U);
  EXPECT_EQ(part.label(1), 0U);
  EXPECT_EQ(part.name(2), "last");
  EXPECT_EQ(part.name(1), "");
  EXPECT_EQ(part.alphabet(), set.alphabet());
  EXPECT_TRUE(set.subset({}).empty());
}

TEST(SequenceSet, HashTellsDataApart) {
  const Alphabet four = Alphabet::integers(4);
  const SequenceSet set(four, {{0, 1}, {2}});
  EXPECT_EQ(set.hash(), SequenceSet(four, {{0, 1}, {2}}).hash());
  const std::vector<std::uint64_t> others = {
      SequenceSet(four, {{0}, {1, 2}}).hash(),      // boundaries
      SequenceSet(four, {{0, 1, 2}}).hash(),        //
      SequenceSet(four, {{0, 1}, {2}, {}}).hash(),  //
      SequenceSet(four, {{0, 1}, {3}}).hash(),      // symbols
      SequenceSet(four, {{0, 1}, {kMissing}}).hash(),
      SequenceSet(Alphabet::dna(), {{0, 1}, {2}}).hash(),
      SequenceSet(Alphabet::integers(5), {{0, 1}, {2}}).hash(),
      SequenceSet().hash()};
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(set.hash(), others[i]) << "case " << i;
}

TEST(SequenceSet, HashCoversClassNamesAndNotTheirNumbers) {
  EXPECT_NE(labelled_set({"a", "b"}).hash(), labelled_set({"b", "a"}).hash());
  EXPECT_NE(labelled_set({"a", "b"}).hash(), labelled_set({"a", "c"}).hash());
  EXPECT_NE(labelled_set({"a", "b"}).hash(), labelled_set({nullptr, nullptr}).hash());
  // "b" is class 1 in the subset and class 0 when it is met first.
  SequenceSet met_first(Alphabet::integers(10));
  met_first.push_back(1);
  met_first.end_sequence_labelled("b");
  EXPECT_EQ(labelled_set({"a", "b"}).subset({1}).hash(), met_first.hash());
}

TEST(SequenceSet, HashDoesNotDependOnTheStorageWidth) {
  SequenceSet set(Alphabet::integers(400), {{1, kMissing, 2}});
  ASSERT_FALSE(set.symbols().wide());
  const std::uint64_t narrow = set.hash();
  set.push_back(300);  // stays in the open sequence, which is not part of the data yet
  ASSERT_TRUE(set.symbols().wide());
  EXPECT_EQ(set.hash(), narrow);
}

TEST(SequenceSet, WeightsAreKeptInUnitsOfTheirMean) {
  SequenceSet set(Alphabet::integers(3), {{0}, {1}, {2}, {0, 1}});
  const std::uint64_t plain = set.hash();
  EXPECT_FALSE(set.weighted());
  EXPECT_EQ(set.weight(2), 1.0);
  set.set_weights({2, 4, 4, 6});
  EXPECT_EQ(set.weight(0), 0.5);
  EXPECT_EQ(set.weight(3), 1.5);
  EXPECT_NE(set.hash(), plain);
  const SequenceSet part = set.subset({3, 1});
  EXPECT_EQ(part.weight(0), 1.5);
  SequenceSet both(Alphabet::integers(3), {{1}});
  both.append(part);
  both.push_back(0);
  both.end_sequence();
  EXPECT_EQ(both.weight(0), 1.0);
  EXPECT_EQ(both.weight(1), 1.5);
  EXPECT_EQ(both.weight(3), 1.0);
  set.set_weights({7, 7, 7, 7});
  EXPECT_FALSE(set.weighted());
  EXPECT_EQ(set.hash(), plain);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, infinity, std::nan("")})
    EXPECT_THROW(set.set_weights({1, bad, 1, 1}), Error) << bad;
  EXPECT_THROW(set.set_weights({1, 2}), Error);
}

}  // namespace
}  // namespace hqmm::detail
