#include "hqmm/data/position_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hqmm/core/error.hpp"

namespace hqmm::detail {
namespace {

using Sets = std::vector<std::uint32_t>;

PositionPlan from_end(PositionPlan plan) {
  plan.from_end = true;
  return plan;
}

TEST(PositionPlan, ReadsBackWhatItWrites) {
  for (const char* text : {"stationary", "each", "window:15-44,tie=5", "window:0-0,tie=1",
                           "map:some/file,tie=2.txt"}) {
    const PositionPlan plan = PositionPlan::parse(text);
    EXPECT_EQ(plan.text(), text);
    EXPECT_EQ(PositionPlan::parse(plan.text()), plan);
  }
  EXPECT_EQ(PositionPlan::parse("window:3-9").text(), "window:3-9,tie=5");
}

TEST(PositionPlan, RefusesEverythingElse) {
  for (const char* text : {"",
                           "Each",
                           "each ",
                           "window",
                           "window:",
                           "window:5",
                           "window:5-",
                           "window:-5",
                           "window:9-3",
                           "window:1-2-3",
                           "window:1-2,",
                           "window:1-2,tie=",
                           "window:1-2,tie=0",
                           "window:1-2,tie=-1",
                           "window:1-2,5",
                           "window:1-2,tie=3,",
                           "window:1-2,tie=3x",
                           "window:0x1-2",
                           "map:",
                           "map",
                           "window:1-99999999999999999999"}) {
    try {
      static_cast<void>(PositionPlan::parse(text));
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage);
      EXPECT_NE(std::string(error.what()).find("window:A-B"), std::string::npos);
    }
  }
}

TEST(PositionPlan, StationaryAndEach) {
  EXPECT_EQ(PositionPlan::parse("stationary").sets(3), Sets({0, 0, 0}));
  EXPECT_EQ(PositionPlan::parse("each").sets(3), Sets({0, 1, 2}));
  EXPECT_EQ(from_end(PositionPlan::parse("each")).sets(3), Sets({0, 1, 2}));
  EXPECT_EQ(PositionPlan::parse("each").sets(0), Sets());
}

TEST(PositionPlan, FlanksAreTiedInStretchesCountedFromTheWindow) {
  EXPECT_EQ(PositionPlan::parse("window:3-4,tie=2").sets(9), Sets({0, 1, 1, 2, 3, 4, 4, 5, 5}));
  EXPECT_EQ(PositionPlan::parse("window:0-1,tie=3").sets(6), Sets({0, 1, 2, 2, 2, 3}));
  EXPECT_EQ(PositionPlan::parse("window:2-3,tie=9").sets(4), Sets({0, 0, 1, 2}));
  const Sets splice = PositionPlan::parse("window:15-44,tie=5").sets(60);
  EXPECT_EQ(*std::max_element(splice.begin(), splice.end()), 35U);
}

TEST(PositionPlan, AnchoredAtTheEndPositionsCountBackwards) {
  // position 0 is the last symbol: the window lies on symbols 5 and 4 of 9, seen from the left
  EXPECT_EQ(from_end(PositionPlan::parse("window:3-4,tie=2")).sets(9),
            Sets({0, 0, 1, 1, 2, 3, 4, 4, 5}));
  PositionPlan map = from_end(PositionPlan::parse("map:f"));
  map.map = {7, 7, 3};
  EXPECT_EQ(map.sets(5), Sets({0, 0, 0, 1, 1}));
}

TEST(PositionPlan, AMapMayBeShorterOrLongerThanTheSequences) {
  PositionPlan plan = PositionPlan::parse("map:f");
  plan.map = {4, 2, 4, 9};
  EXPECT_EQ(plan.sets(4), Sets({0, 1, 0, 2}));
  EXPECT_EQ(plan.sets(6), Sets({0, 1, 0, 2, 2, 2}));
  EXPECT_EQ(plan.sets(2), Sets({0, 1}));
}

TEST(PositionPlan, AWindowBeyondTheEndAndAnEmptyMapAreRefused) {
  EXPECT_NO_THROW(static_cast<void>(PositionPlan::parse("window:3-8").sets(9)));
  EXPECT_THROW(static_cast<void>(PositionPlan::parse("window:3-9").sets(9)), Error);
  EXPECT_THROW(static_cast<void>(PositionPlan::parse("window:0-0").sets(0)), Error);
  EXPECT_THROW(static_cast<void>(PositionPlan::parse("map:f").sets(4)), Error);
}

}  // namespace
}  // namespace hqmm::detail
