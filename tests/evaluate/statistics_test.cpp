// Statistics: against values worked out by hand or known from tables.
#include "hqmm/evaluate/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace hqmm::detail::testing {
namespace {

TEST(Spread, OfNothingOneAndSeveral) {
  EXPECT_EQ(spread({}).count, 0U);
  const std::vector<double> one{2.0};
  EXPECT_EQ(spread(one).mean, 2.0);
  EXPECT_FALSE(spread(one).deviation);
  const std::vector<double> values{1.0, 2.0, 3.0, 6.0};
  const Spread found = spread(values);
  EXPECT_EQ(found.mean, 3.0);
  EXPECT_NEAR(found.deviation.value(), std::sqrt(14.0 / 3.0), 1e-15);
  EXPECT_NEAR(found.standard_error.value(), std::sqrt(14.0 / 12.0), 1e-15);
}

TEST(WeightedMean, IsThatOfAPlainMeanWhenWeightsAreEqual) {
  const std::vector<double> values{1.0, 2.0, 3.0, 6.0}, twos(4, 2.0);
  const WeightedMean found = weighted_mean(values, twos);
  EXPECT_EQ(found.mean, 1.5);
  EXPECT_NEAR(found.standard_error.value(), spread(values).standard_error.value() / 2.0, 1e-15);
}

TEST(WeightedMean, OfExactlyProportionalValuesIsCertain) {
  const std::vector<double> values{3.0, 6.0, 30.0}, weights{1.0, 2.0, 10.0};
  EXPECT_EQ(weighted_mean(values, weights).mean, 3.0);
  EXPECT_NEAR(weighted_mean(values, weights).standard_error.value(), 0.0, 1e-15);
  EXPECT_FALSE(weighted_mean({values.data(), 1}, {weights.data(), 1}).standard_error);
}

TEST(Student, OneAndTwoDegreesInClosedForm) {
  for (const double t : {0.0, 0.3, 1.0, 4.0, 50.0}) {
    EXPECT_NEAR(student_two_sided(t, 1.0), 1.0 - 2.0 / std::numbers::pi * std::atan(t), 1e-12);
    EXPECT_NEAR(student_two_sided(-t, 2.0), 1.0 - t / std::sqrt(2.0 + t * t), 1e-12);
  }
}

TEST(Student, TheUsualTables) {
  EXPECT_NEAR(student_two_sided(2.262157, 9.0), 0.05, 1e-6);
  EXPECT_NEAR(student_two_sided(3.249836, 9.0), 0.01, 1e-6);
  EXPECT_NEAR(student_two_sided(1.959964, 1e7), 0.05, 1e-6);
  EXPECT_GT(student_two_sided(60.0, 9.0), 0.0);  // far out, still a number
  EXPECT_LT(student_two_sided(60.0, 9.0), 1e-11);
}

TEST(PairedT, AddsUpByHand) {
  const std::vector<double> a{1.0, 2.0, 4.0};
  const std::vector<double> b{0.0, 2.0, 2.0};
  const PairedTest found = paired_t_test(a, b);  // differences 1, 0, 2
  EXPECT_EQ(found.pairs, 3U);
  EXPECT_NEAR(found.difference, 1.0, 1e-15);
  EXPECT_NEAR(found.standard_error, 1.0 / std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(found.t.value(), std::sqrt(3.0), 1e-14);
  EXPECT_NEAR(found.p, 1.0 - std::sqrt(3.0) / std::sqrt(5.0), 1e-12);
}

TEST(PairedT, WithoutSpreadIsCertainOrNothing) {
  const std::vector<double> a{1.0, 2.0};
  const std::vector<double> b{0.0, 1.0};
  EXPECT_EQ(paired_t_test(a, a).p, 1.0);
  EXPECT_EQ(paired_t_test(a, b).p, 0.0);
  EXPECT_FALSE(paired_t_test(a, b).t);
}

TEST(Holm, StepsDownAndNeverExceedsOne) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.5};
  const std::vector<double> corrected = holm(p);
  EXPECT_NEAR(corrected[0], 0.04, 1e-15);
  EXPECT_NEAR(corrected[2], 0.09, 1e-15);
  EXPECT_NEAR(corrected[1], 0.09, 1e-15);  // 0.08 by itself, not below the one before it
  EXPECT_NEAR(corrected[3], 0.5, 1e-15);
  const std::vector<double> large{0.9, 0.8};
  EXPECT_EQ(holm(large), (std::vector<double>{1.0, 1.0}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace hqmm::detail::testing
