#include "hqmm/data/folds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "hqmm/core/random.hpp"
#include "hqmm/data/group_sequences.hpp"
#include "support/grouped_sets.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using namespace hqmm::detail::testing;

TEST(Grouping, ParsesAndWritesItself) {
  EXPECT_EQ(Grouping::parse("none"), kNone);
  EXPECT_EQ(Grouping::parse("identical"), kIdentical);
  EXPECT_EQ(Grouping::parse("homology:45"), homology(45));
  for (const char* text : {"none", "identical", "homology:45", "homology:1"}) {
    EXPECT_EQ(Grouping::parse(text).text(), text);
  }
}

TEST(Grouping, RejectsOtherText) {
  for (const char* text : {"", "None", "identical ", "homology", "homology:", "homology:0",
                           "homology:-1", "homology:4x", "homology:99999999999999999999999"}) {
    expect_error(ErrorCode::kUsage, "is not a grouping: give none, identical, or homology:N",
                 [&] { (void)Grouping::parse(text); });
  }
}

TEST(GroupSequences, WithoutGroupingEverySequenceIsAlone) {
  EXPECT_EQ(group_sequences(SequenceSet(Alphabet::integers(2), {{1}, {1}, {}}), kNone),
            (Indices{0, 1, 2}));
  EXPECT_EQ(group_sequences(SequenceSet(), kNone), Indices{});
}

TEST(GroupSequences, IdenticalOnesShareAGroupNumberedByFirstAppearance) {
  const SequenceSet set(
      Alphabet::integers(3),
      {{1, 2}, {}, {2, 1}, {1, 2}, {1}, {}, {2, 1}, {1, 2, 0}, {kMissing}, {kMissing}});
  EXPECT_EQ(group_sequences(set, kIdentical), (Indices{0, 1, 2, 0, 3, 1, 2, 4, 5, 5}));
}

TEST(GroupSequences, HomologyLinksAtTheThresholdAndNotBelow) {
  const SequenceSet set(Alphabet::integers(4),
                        {{0, 0, 0, 0}, {0, 0, 0, 1}, {2, 2, 2, 2}, {0, 2, 2, 2}});
  EXPECT_EQ(group_sequences(set, homology(3)), (Indices{0, 0, 1, 1}));
  EXPECT_EQ(group_sequences(set, homology(4)), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(group_sequences(set, homology(1)), (Indices{0, 0, 0, 0}))
      << "the last starts like the first";
}

TEST(GroupSequences, HomologyIsSingleLinkage) {
  // Each matches the next in three of four positions; the ends match in none.
  const SequenceSet chain(Alphabet::integers(2),
                          {{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 1, 1}, {0, 0, 0, 1}, {0, 1, 1, 1}});
  EXPECT_EQ(group_sequences(chain, homology(3)), (Indices{0, 0, 0, 0, 0}));
}

TEST(GroupSequences, HomologyComparesOneLengthOnly) {
  const SequenceSet set(Alphabet::integers(2), {{0, 0, 0}, {0, 0, 0, 0}, {0, 0, 1}});
  EXPECT_EQ(group_sequences(set, homology(2)), (Indices{0, 1, 0}));
}

TEST(GroupSequences, MissingSymbolsMatchNothingButEqualSequencesStayTogether) {
  const SequenceSet set(
      Alphabet::integers(2),
      {{kMissing, kMissing, 0, 0}, {kMissing, kMissing, 0, 1}, {kMissing, kMissing, 0, 0}});
  EXPECT_EQ(group_sequences(set, homology(2)), (Indices{0, 1, 0}));
  EXPECT_EQ(group_sequences(set, homology(1)), (Indices{0, 0, 0}));
}

TEST(GroupSequences, MoreMatchesThanPositionsLinksOnlyEqualOnes) {
  const SequenceSet set(Alphabet::integers(2), {{0, 0}, {0, 1}, {0, 0}, {}, {}});
  EXPECT_EQ(group_sequences(set, homology(50)), (Indices{0, 1, 0, 2, 2}));
}

TEST(GroupSequences, RejectsHomologyAtNoMatches) {
  expect_error(ErrorCode::kUsage, "at least 1",
               [] { (void)group_sequences(SequenceSet(), homology(0)); });
}

/// The definition, in the slow and obvious way: join groups until nothing changes.
Indices naive_homology(const SequenceSet& set, std::size_t matches) {
  const auto linked = [&](SequenceView a, SequenceView b) {
    if (a == b) return true;
    if (a.size() != b.size()) return false;
    std::size_t equal = 0;
    for (std::size_t t = 0; t < a.size(); ++t) equal += a[t] == b[t] && a[t] != kMissing;
    return equal >= matches;
  };
  Indices lowest(set.size());  // the lowest sequence known to be in the same group
  std::iota(lowest.begin(), lowest.end(), 0U);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = 0; j < set.size(); ++j) {
        if (lowest[j] < lowest[i] && linked(set[i], set[j])) {
          lowest[i] = lowest[j];
          changed = true;
        }
      }
    }
  }
  std::map<std::uint32_t, std::uint32_t> number;
  for (auto& group : lowest) group = number.try_emplace(group, number.size()).first->second;
  return lowest;
}

HQMM_PROPERTY(GroupSequences, AgreesWithTheDefinition) {
  const std::size_t size = draw.length(39);
  const std::size_t length = 1 + draw.length(38);
  const std::size_t matches = draw.between(1, length + 1);
  const auto top = draw.one_of<Symbol>({2, 3, 300});  // 300: stored two bytes wide
  RandomStream random(draw.number(), Purpose::kTest);
  SequenceSet set(Alphabet::integers(301));
  for (std::size_t i = 0; i < size; ++i) {
    // Half of them mutate an earlier one, so that there is something to find.
    const bool mutant = i > 0 && random.below(2) == 0;
    const SequenceView parent = mutant ? set[random.below(i)] : SequenceView();
    const std::size_t own = mutant ? parent.size() : length - random.below(2);
    std::vector<Symbol> symbols;
    for (std::size_t t = 0; t < own; ++t) {
      const auto fresh =
          random.below(8) == 0 ? kMissing : static_cast<Symbol>(top - random.below(2));
      symbols.push_back(mutant && random.below(5) != 0 ? parent[t] : fresh);
    }
    for (const Symbol symbol : symbols) set.push_back(symbol);
    set.end_sequence();
  }
  HQMM_HOLDS(group_sequences(set, homology(matches)) == naive_homology(set, matches));
}

}  // namespace
}  // namespace hqmm::detail
