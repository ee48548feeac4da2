#include "hqmm/data/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hqmm/data/group_sequences.hpp"
#include "support/grouped_sets.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using namespace hqmm::detail::testing;

HQMM_PROPERTY(MakeFolds, PartitionBalanceAndDeterminism) {
  const std::uint64_t seed = draw.number();
  const auto sizes = group_sizes(draw);
  const SequenceSet set = set_of_groups(sizes);
  const Indices group = group_sequences(set, kIdentical);
  const std::size_t folds = draw.between(2, std::min<std::size_t>(group_count(group), 10));
  const Indices fold = make_folds(set, folds, kIdentical, seed);

  HQMM_HOLDS(fold.size() == set.size());
  HQMM_HOLDS(std::all_of(fold.begin(), fold.end(), [&](auto f) { return f < folds; }));
  HQMM_HOLDS(group_count(fold) == folds);  // no fold is empty
  for (std::size_t i = 1; i < set.size(); ++i) {
    if (group[i] == group[i - 1]) HQMM_HOLDS(fold[i] == fold[i - 1]);
  }
  // A group goes to the fold with the fewest of its class, and so can lead the others by its own
  // size.
  std::vector<std::vector<std::size_t>> counts;
  for (std::uint32_t f = 0; f < folds; ++f) counts.push_back(class_counts(set, members(fold, f)));
  for (std::size_t c = 0; c < set.classes().size(); ++c) {
    const auto [least, most] = std::minmax_element(
        counts.begin(), counts.end(), [c](const auto& a, const auto& b) { return a[c] < b[c]; });
    const std::size_t named = std::stoul(set.classes()[c].substr(5));
    HQMM_HOLDS((*most)[c] - (*least)[c] <= largest(sizes[named]));
  }
  HQMM_HOLDS(fold == make_folds(set, folds, kIdentical, seed));
}

TEST(MakeFolds, SpreadsClassesOfSinglesToWithinOne) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(52, 1), std::vector<std::size_t>(13, 1)});
  const Indices fold = make_folds(set, 5, kIdentical, 1);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const auto counts = class_counts(set, members(fold, f));
    EXPECT_TRUE(counts[0] == 10 || counts[0] == 11) << counts[0];
    EXPECT_TRUE(counts[1] == 2 || counts[1] == 3) << counts[1];
  }
}

TEST(MakeFolds, SpreadsTheRestsOfManyClasses) {
  // Every class has one sequence more than fits evenly: the rests must not all pile up in one fold.
  const SequenceSet set =
      set_of_groups(std::vector<std::vector<std::size_t>>(10, std::vector<std::size_t>(6, 1)));
  const Indices fold = make_folds(set, 5, kIdentical, 3);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const std::size_t size = members(fold, f).size();
    EXPECT_GE(size, 10U);
    EXPECT_LE(size, 14U);
  }
}

TEST(MakeFolds, LargestGroupsFirstFillsEvenly) {
  // In the order written, the last group would make one fold twice as large.
  const SequenceSet set = set_of_groups({{1, 1, 1, 1, 1, 1, 6}});
  const Indices fold = make_folds(set, 2, kIdentical, 1);
  EXPECT_EQ(members(fold, 0).size(), 6U);
  EXPECT_EQ(members(fold, 1).size(), 6U);
}

TEST(MakeFolds, TakesUnlabelledAndPartlyLabelledSets) {
  SequenceSet plain(Alphabet::integers(100));
  SequenceSet partly(Alphabet::integers(100));
  for (Symbol i = 0; i < 20; ++i) {
    plain.push_back(i);
    plain.end_sequence();
    partly.push_back(i);
    if (i < 10) {
      partly.end_sequence_labelled("known");
    } else {
      partly.end_sequence();
    }
  }
  const Indices fold = make_folds(plain, 4, kNone, 1);
  for (std::uint32_t f = 0; f < 4; ++f) EXPECT_EQ(members(fold, f).size(), 5U);
  const Indices mixed = make_folds(partly, 5, kNone, 1);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const Indices here = members(mixed, f);
    EXPECT_EQ(here.size(), 4U);
    EXPECT_EQ(std::count_if(here.begin(), here.end(), [](auto i) { return i < 10; }), 2);
  }
}

TEST(MakeFolds, DependsOnTheSeed) {
  const SequenceSet set = distinct_set(100);
  std::set<Indices> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) seen.insert(make_folds(set, 5, kNone, seed));
  EXPECT_EQ(seen.size(), 20U);
}

TEST(MakeFolds, EverySequenceMayMeetEveryOther) {
  // Over many seeds two given sequences share one of 5 folds of 50 with probability 9/49.
  const SequenceSet set = distinct_set(50);
  constexpr int kSeeds = 2000;
  int together = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Indices fold = make_folds(set, 5, kNone, static_cast<std::uint64_t>(seed));
    together += fold[3] == fold[4];
  }
  const double p = 9.0 / 49.0;
  EXPECT_NEAR(together, p * kSeeds, 5 * std::sqrt(p * (1 - p) * kSeeds));
}

TEST(MakeFolds, AsManyFoldsAsGroupsLeavesOneOut) {
  const Indices fold = make_folds(distinct_set(7), 7, kIdentical, 9);
  EXPECT_EQ(group_count(fold), 7U);
}

TEST(MakeFolds, SaysWhyItCannot) {
  for (const std::size_t folds : {0, 1}) {
    expect_error(ErrorCode::kUsage, "at least 2 folds, not " + std::to_string(folds),
                 [&] { (void)make_folds(distinct_set(10), folds, kNone, 1); });
  }
  expect_error(ErrorCode::kUsage,
               "cannot make 3 folds: the 9 sequences form only 2 "
               "groups that may be separated (grouping identical)",
               [] {
                 (void)make_folds(set_of_groups({{4, 5}}), 3, kIdentical, 1);
               });
  EXPECT_NO_THROW((void)make_folds(set_of_groups({{4, 5}}), 3, kNone, 1));
  expect_error(ErrorCode::kUsage, "cannot make 2 folds",
               [] { (void)make_folds(SequenceSet(), 2, kNone, 1); });
}

}  // namespace
}  // namespace hqmm::detail
