// Which Kraus set acts where.
#include "hqmm/model/position_map.hpp"

#include <gtest/gtest.h>

#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

using Anchor = PositionMap::Anchor;
using Sets = std::vector<std::uint32_t>;

Sets sets_of(const PositionMap& map, std::size_t length) {
  Sets out;
  for (std::size_t t = 0; t < length; ++t) out.push_back(map.set_at(t, length));
  return out;
}

TEST(PositionMap, OneEntryHoldsEverywhere) {
  EXPECT_TRUE(PositionMap().stationary());
  EXPECT_EQ(sets_of(PositionMap(), 3), (Sets{0, 0, 0}));
  EXPECT_EQ(sets_of(PositionMap({4}, Anchor::kEnd), 3), (Sets{4, 4, 4}));
}

TEST(PositionMap, FromTheStartTheLastEntryGoesOn) {
  const PositionMap map({5, 7, 9});
  EXPECT_EQ(sets_of(map, 1), (Sets{5}));
  EXPECT_EQ(sets_of(map, 2), (Sets{5, 7}));
  EXPECT_EQ(sets_of(map, 3), (Sets{5, 7, 9}));
  EXPECT_EQ(sets_of(map, 5), (Sets{5, 7, 9, 9, 9}));
}

TEST(PositionMap, FromTheEndTheFirstEntryHoldsForAllEarlierPositions) {
  const PositionMap map({5, 7, 9}, Anchor::kEnd);
  EXPECT_EQ(sets_of(map, 1), (Sets{9}));
  EXPECT_EQ(sets_of(map, 2), (Sets{7, 9}));
  EXPECT_EQ(sets_of(map, 3), (Sets{5, 7, 9}));
  EXPECT_EQ(sets_of(map, 5), (Sets{5, 5, 5, 7, 9}));
}

TEST(PositionMap, BehindTheEndTheLastEntryHolds) {
  for (const Anchor anchor : {Anchor::kStart, Anchor::kEnd}) {
    const PositionMap map({5, 7, 9}, anchor);
    EXPECT_EQ(map.set_at(3, 3), 9U);
    EXPECT_EQ(map.set_at(10, 3), 9U);
    EXPECT_EQ(map.set_at(4, 4), 9U);
  }
}

TEST(PositionMap, AgreesWithTheListWrittenOut) {
  for (const Anchor anchor : {Anchor::kStart, Anchor::kEnd}) {
    for (const Sets& entries : {Sets{0}, Sets{1, 0}, Sets{2, 2, 0, 1}}) {
      const PositionMap map(entries, anchor);
      for (std::size_t length = 1; length < 9; ++length) {
        EXPECT_EQ(sets_of(map, length), naive_sets(map, length));
      }
    }
  }
}

TEST(PositionMap, EachPositionCanHaveItsOwnSet) {
  const PositionMap map = PositionMap::each(4, Anchor::kEnd);
  EXPECT_EQ(map.entries(), (Sets{0, 1, 2, 3}));
  EXPECT_EQ(map.set_count(), 4U);
  EXPECT_FALSE(map.stationary());
}

TEST(PositionMap, TheLengthIsNotNeededFromTheStart) {
  EXPECT_EQ(PositionMap({5, 7, 9}).set_at(1, std::numeric_limits<std::size_t>::max()), 7U);
}

}  // namespace
}  // namespace hqmm::detail::testing
