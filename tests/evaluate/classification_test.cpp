// Figures of a classification, against numbers worked out by hand.
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/paired_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hqmm::detail::testing {
namespace {

using Labels = std::vector<std::uint32_t>;

Posteriors posteriors(const std::vector<std::vector<double>>& rows) {
  Posteriors out(rows.size(), rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t c = 0; c < rows[i].size(); ++c) out.row(i)[c] = std::log(rows[i][c]);
  return out;
}

/// Decisions as given, each with certainty.
Posteriors decided(const Labels& decisions, std::size_t classes) {
  Posteriors out(decisions.size(), classes);
  for (std::size_t i = 0; i < decisions.size(); ++i) out.row(i)[decisions[i]] = 0.0;
  return out;
}

const std::vector<double> kEven{0.5, 0.5};

TEST(Judge, CountsErrorsByClass) {
  const Labels labels{0, 0, 0, 0, 1, 1};
  const Classification found = judge(decided({0, 0, 0, 1, 1, 0}, 2), labels, kEven);
  EXPECT_EQ(found.confusion, (std::vector<std::vector<std::uint64_t>>{{3, 1}, {1, 1}}));
  EXPECT_DOUBLE_EQ(found.class_errors[0]->value, 0.25);
  EXPECT_DOUBLE_EQ(found.class_errors[1]->value, 0.5);
  EXPECT_DOUBLE_EQ(found.class_errors[0]->standard_error, std::sqrt(0.25 * 0.75 / 4));
  EXPECT_DOUBLE_EQ(found.mean_class_error.value, 0.375);
  EXPECT_DOUBLE_EQ(found.mean_class_error.standard_error,
                   0.5 * std::sqrt(0.25 * 0.75 / 4 + 0.5 * 0.5 / 2));
  EXPECT_DOUBLE_EQ(found.overall_error.value, 2.0 / 6.0);
}

TEST(Judge, AClassWithoutRowsHasNoErrorRate) {
  const Classification found = judge(decided({0, 2}, 3), Labels{0, 0}, std::vector{0.2, 0.3, 0.5});
  EXPECT_FALSE(found.class_errors[1].has_value());
  EXPECT_DOUBLE_EQ(found.mean_class_error.value, 0.5);
}

TEST(Judge, LogLossWeighsClassesByThePrior) {
  const Labels labels{0, 0, 0, 1};
  const Posteriors rows = posteriors({{0.9, 0.1}, {0.9, 0.1}, {0.9, 0.1}, {0.8, 0.2}});
  EXPECT_NEAR(judge(rows, labels, kEven).log_loss, -0.5 * std::log(0.9) - 0.5 * std::log(0.2),
              1e-12);
  EXPECT_NEAR(judge(rows, labels, std::vector{0.75, 0.25}).log_loss,
              -0.75 * std::log(0.9) - 0.25 * std::log(0.2), 1e-12);
}

TEST(Judge, ImpossibleTruthIsAFiniteLoss) {
  const Classification found = judge(decided({1}, 2), Labels{0}, kEven);
  EXPECT_NEAR(found.log_loss, -std::log(1e-15), 1e-9);
}

TEST(Judge, CalibrationOfAPopulationWithThePrior) {
  // Class 1 is rare in the rows, as frequent as class 0 under the uniform prior: a posterior of
  // 0.9 is right in all rows of class 0 and in none of class 1, so half of the population.
  Labels labels(90, 0);
  labels.insert(labels.end(), 10, 1);
  const Posteriors rows =
      posteriors(std::vector<std::vector<double>>(100, std::vector<double>{0.9, 0.1}));
  EXPECT_NEAR(judge(rows, labels, kEven).calibration_error, 0.4, 1e-12);
  EXPECT_NEAR(judge(rows, labels, std::vector{0.9, 0.1}).calibration_error, 0.0, 1e-12);
  const CalibrationBin bin = judge(rows, labels, kEven).calibration[13];
  EXPECT_EQ(bin.rows, 100U);
  EXPECT_NEAR(bin.weight, 1.0, 1e-12);
  EXPECT_NEAR(bin.accuracy, 0.5, 1e-12);
  EXPECT_NEAR(bin.confidence, 0.9, 1e-12);
}

TEST(Abstain, AnswersTheSureRowsOnly) {
  const Posteriors rows = posteriors({{0.99, 0.01}, {0.6, 0.4}, {0.05, 0.95}, {0.97, 0.03}});
  const Abstention found = abstain(rows, Labels{0, 1, 1, 1}, 0.9);
  EXPECT_DOUBLE_EQ(found.answered, 0.75);
  EXPECT_DOUBLE_EQ(*found.error, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(*found.mean_class, 0.25);
  EXPECT_FALSE(abstain(rows, Labels{0, 1, 1, 1}, 0.999).error.has_value());
}

TEST(Compare, WeighsClassesTheSame) {
  // Class 0: 4 rows, a wrong in one where b is right; class 1: 2 rows, b wrong in one.
  const Labels labels{0, 0, 0, 0, 1, 1};
  const PairedErrors found =
      compare(decided({1, 0, 0, 0, 1, 1}, 2), decided({0, 0, 0, 0, 0, 1}, 2), labels);
  EXPECT_DOUBLE_EQ(found.difference, 0.5 * (0.25 - 0.5));
  // Sample variances of {1,0,0,0} and {−1,0} over their counts.
  EXPECT_NEAR(found.standard_error, 0.5 * std::sqrt(0.25 / 4 + 0.5 / 2), 1e-12);
  EXPECT_EQ(found.only_a_wrong, 1U);
  EXPECT_EQ(found.only_b_wrong, 1U);
  EXPECT_DOUBLE_EQ(found.mcnemar_p, 1.0);
}

TEST(Compare, TheSameDecisionsDoNotDiffer) {
  const PairedErrors found = compare(decided({0, 1}, 2), decided({0, 1}, 2), Labels{0, 0});
  EXPECT_EQ(found.difference, 0.0);
  EXPECT_EQ(found.p, 1.0);
}

TEST(McNemar, IsTheBinomialTail) {
  EXPECT_NEAR(mcnemar_exact(0, 5), 2.0 / 32.0, 1e-12);
  EXPECT_NEAR(mcnemar_exact(2, 8), 2.0 * (1 + 10 + 45) / 1024.0, 1e-12);
  EXPECT_DOUBLE_EQ(mcnemar_exact(4, 4), 1.0);
  EXPECT_DOUBLE_EQ(mcnemar_exact(0, 0), 1.0);
}

}  // namespace
}  // namespace hqmm::detail::testing
