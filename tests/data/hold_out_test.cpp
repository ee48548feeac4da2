#include "hqmm/data/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hqmm/data/group_sequences.hpp"
#include "support/grouped_sets.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using namespace hqmm::detail::testing;

HQMM_PROPERTY(HoldOut, PartitionBalanceAndDeterminism) {
  const std::uint64_t seed = draw.number();
  const auto sizes = group_sizes(draw);
  const auto share = draw.one_of({0.001, 0.1, 0.2, 1.0 / 3, 0.5, 0.9, 0.999});
  const SequenceSet set = set_of_groups(sizes);
  const Indices group = group_sequences(set, kIdentical);
  const Split split = hold_out(set, share, kIdentical, seed);

  HQMM_HOLDS(!split.kept.empty());
  HQMM_HOLDS(!split.held_out.empty());
  HQMM_HOLDS(std::is_sorted(split.kept.begin(), split.kept.end()));
  HQMM_HOLDS(std::is_sorted(split.held_out.begin(), split.held_out.end()));
  Indices all;
  std::merge(split.kept.begin(), split.kept.end(), split.held_out.begin(), split.held_out.end(),
             std::back_inserter(all));
  HQMM_HOLDS(all == group_sequences(set, kNone));  // 0, 1, 2, …
  std::set<std::uint32_t> kept_groups;
  for (const std::uint32_t i : split.kept) kept_groups.insert(group[i]);
  for (const std::uint32_t i : split.held_out) HQMM_HOLDS(!kept_groups.contains(group[i]));

  // What is due stays within half the largest group, at both ends of every class; the rule that no
  // side is empty may move one more group.
  double most = 0.0;
  for (const auto& of_class : sizes) most = std::max(most, static_cast<double>(largest(of_class)));
  const auto held = class_counts(set, split.held_out);
  const auto kept = class_counts(set, split.kept);
  for (std::size_t c = 0; c < held.size(); ++c) {
    const double wanted = share * static_cast<double>(held[c] + kept[c]);
    HQMM_HOLDS(std::abs(static_cast<double>(held[c]) - wanted) <= 2 * most + 1e-9);
  }
  const double wanted = share * static_cast<double>(set.size());
  HQMM_HOLDS(std::abs(static_cast<double>(split.held_out.size()) - wanted) <= 1.5 * most + 1e-9);
  HQMM_HOLDS(hold_out(set, share, kIdentical, seed).held_out == split.held_out);
}

TEST(HoldOut, TakesTheShareOfEveryClass) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(100, 1), std::vector<std::size_t>(20, 1)});
  const Split split = hold_out(set, 0.2, kIdentical, 1);
  EXPECT_EQ(class_counts(set, split.held_out), (std::vector<std::size_t>{20, 4}));
}

TEST(HoldOut, TakesTheShareOverManySmallClasses) {
  // No class of two has a whole sequence to give; all fifty together have twenty.
  const SequenceSet set =
      set_of_groups(std::vector<std::vector<std::size_t>>(50, std::vector<std::size_t>(2, 1)));
  const Split split = hold_out(set, 0.2, kIdentical, 1);
  EXPECT_EQ(split.held_out.size(), 20U);
  for (const std::size_t count : class_counts(set, split.held_out)) EXPECT_LE(count, 1U);
  EXPECT_NE(split.held_out, hold_out(set, 0.2, kIdentical, 2).held_out);
}

TEST(HoldOut, EverySequenceHasItsTurn) {
  const SequenceSet set =
      set_of_groups({std::vector<std::size_t>(15, 1), std::vector<std::size_t>(5, 1)});
  constexpr int kSeeds = 1000;
  std::vector<int> times(set.size());
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const auto i : hold_out(set, 0.2, kNone, static_cast<std::uint64_t>(seed)).held_out)
      ++times[i];
  }
  for (const int count : times) EXPECT_NEAR(count, 0.2 * kSeeds, 5 * std::sqrt(0.16 * kSeeds));
}

TEST(HoldOut, NeverTakesNothingOrAll) {
  EXPECT_EQ(hold_out(distinct_set(10), 0.001, kNone, 1).held_out.size(), 1U);
  EXPECT_EQ(hold_out(distinct_set(10), 0.999, kNone, 1).kept.size(), 1U);
  EXPECT_EQ(hold_out(distinct_set(2), 0.2, kNone, 1).held_out.size(), 1U);
  const SequenceSet uneven = set_of_groups({{9, 1}});
  EXPECT_EQ(hold_out(uneven, 0.01, kIdentical, 1).held_out, Indices{9})
      << "the smallest group moves";
}

TEST(HoldOut, SaysWhyItCannot) {
  for (const double share : {0.0, 1.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(ErrorCode::kUsage, "must lie between 0 and 1, not ",
                 [&] { (void)hold_out(distinct_set(10), share, kNone, 1); });
  }
  expect_error(ErrorCode::kUsage,
               "it has 1 sequence (grouping none), and one must be held out and one kept",
               [] { (void)hold_out(distinct_set(1), 0.2, kNone, 1); });
  expect_error(ErrorCode::kUsage, "it has 0 sequences",
               [] { (void)hold_out(SequenceSet(), 0.2, kNone, 1); });
  expect_error(ErrorCode::kUsage, "its 5 sequences form one group (grouping identical)",
               [] { (void)hold_out(set_of_groups({{5}}), 0.2, kIdentical, 1); });
}

}  // namespace
}  // namespace hqmm::detail
