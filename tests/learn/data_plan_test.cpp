// How data are cut before training, and what is held out for validation.
#include "hqmm/learn/data_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::draw;
using testing::expect_error;
using testing::SmallData;

// Planning the data.

SequenceSet of_lengths(const std::vector<std::size_t>& lengths) {
  std::vector<std::vector<Symbol>> sequences;
  for (const std::size_t length : lengths) {
    std::vector<Symbol>& one = sequences.emplace_back(length, Symbol{0});
    if (!one.empty()) one[0] = static_cast<Symbol>(sequences.size() % 2);
  }
  return {Alphabet::integers(2), sequences};
}

TEST(PlanData, LongSequencesAreCutAndShortOnesStayWhole) {
  TrainOptions options;
  const DataPlan longs = plan_data(of_lengths({601, 50}), of_lengths({900, 4000}), options);
  EXPECT_EQ(longs.chunk_length, 300U);
  EXPECT_EQ(longs.burn_in, 20U);
  EXPECT_EQ(longs.validation_burn_in, 300U) << "a third of the shortest";
  EXPECT_EQ(plan_data(of_lengths({601}), of_lengths({6000}), options).validation_burn_in, 1000U);

  const DataPlan shorts = plan_data(of_lengths({600}), of_lengths({600}), options);
  EXPECT_EQ(shorts.chunk_length, 0U);
  EXPECT_EQ(shorts.burn_in, 0U);
  EXPECT_EQ(shorts.validation_burn_in, 0U);
}

TEST(PlanData, WhatIsGivenHolds) {
  TrainOptions options;
  options.chunk_length = 50;
  options.burn_in = 10;
  options.validation_burn_in = 7;
  const DataPlan plan = plan_data(of_lengths({3000}), of_lengths({3000}), options);
  EXPECT_EQ(plan.chunk_length, 50U);
  EXPECT_EQ(plan.burn_in, 10U);
  EXPECT_EQ(plan.validation_burn_in, 7U);
}

// A validation share.

TEST(SplitValidation, HoldsOutAShareOfTheSequences) {
  const SmallData data = draw(synthetic_hmm(), 20, 1, 12);
  const ValidationSplit split = split_validation(data.train, 0.2, 1);
  EXPECT_EQ(split.validation.size(), 4U);
  EXPECT_EQ(split.train.size(), 16U);
  EXPECT_EQ(split.how, "4 of 20 sequences held out for validation (seed 1)");
  EXPECT_EQ(split_validation(data.train, 0.2, 1).validation.hash(), split.validation.hash());
  EXPECT_NE(split_validation(data.train, 0.2, 2).validation.hash(), split.validation.hash());
}

TEST(SplitValidation, EqualSequencesStayTogether) {
  const SequenceSet set(Alphabet::integers(2),
                        {{0, 1}, {1, 1}, {0, 1}, {0, 0}, {1, 1}, {0, 1}, {1, 0}});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const ValidationSplit split = split_validation(set, 0.4, seed);
    EXPECT_EQ(split.train.size() + split.validation.size(), set.size());
    for (std::size_t i = 0; i < split.train.size(); ++i) {
      for (std::size_t j = 0; j < split.validation.size(); ++j)
        EXPECT_FALSE(split.train[i] == split.validation[j]);
    }
  }
}

TEST(SplitValidation, ASingleSequenceGivesItsTail) {
  const SequenceSet set(Alphabet::integers(2), {{0, 1, 1, 0, 0, 1, 0, 1, 1, 1}});
  const ValidationSplit split = split_validation(set, 0.3, 1);
  ASSERT_EQ(split.train.size(), 1U);
  EXPECT_EQ(split.train[0].to_vector(), (std::vector<Symbol>{0, 1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(split.validation[0].to_vector(), (std::vector<Symbol>{1, 1, 1}));
  EXPECT_EQ(split.how, "the last 3 of the only sequence's 10 symbols held out for validation");
}

TEST(SplitValidation, WhatCannotBeSplitIsUsedForBothAndSaidSo) {
  const SequenceSet same(Alphabet::integers(2), {{0, 1}, {0, 1}, {0, 1}});
  const SequenceSet tiny(Alphabet::integers(2), {{1}});
  for (const SequenceSet* set : {&same, &tiny}) {
    const ValidationSplit split = split_validation(*set, 0.2, 1);
    EXPECT_EQ(split.train.hash(), set->hash());
    EXPECT_EQ(split.validation.hash(), set->hash());
    EXPECT_NE(split.how.find("on the training sequences themselves"), std::string::npos);
  }
}

TEST(SplitValidation, AShareThatIsNoneIsRefused) {
  const SequenceSet one(Alphabet::integers(2), {{0, 1, 0, 1}});
  for (const double share : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    expect_error(ErrorCode::kUsage, "between 0 and 1",
                 [&] { return split_validation(one, share, 1); });
  }
}

}  // namespace
}  // namespace hqmm::detail
