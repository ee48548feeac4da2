// Scores: description accuracy, bits per symbol, and what is left out of them.
#include "hqmm/score/score.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(DescriptionAccuracy, IsOneForCertaintyAndZeroForAUniformGuess) {
  EXPECT_EQ(description_accuracy(0.0, 10, 4), 1.0);
  EXPECT_NEAR(description_accuracy(-10 * std::log(4.0), 10, 4).value(), 0.0, 1e-15);
  EXPECT_NEAR(description_accuracy(-5 * std::log(4.0), 10, 4).value(), 0.5, 1e-15);
}

TEST(DescriptionAccuracy, BelowZeroIsTanhOfAnEighth) {
  EXPECT_NEAR(description_accuracy(-30 * std::log(4.0), 10, 4).value(), std::tanh(-2.0 / 8.0),
              1e-15);
  EXPECT_EQ(description_accuracy(-kInfinity, 10, 4), -1.0);
}

TEST(DescriptionAccuracy, IsNothingWithoutSymbolsOrWithOneSymbolOnly) {
  EXPECT_FALSE(description_accuracy(0.0, 0, 4));
  EXPECT_FALSE(description_accuracy(0.0, 10, 1));
}

/// Symbols independent and of the given probabilities.
Hmm memoryless(const std::vector<double>& probabilities) {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(probabilities.size());
  hmm.transition = RealMatrix::Ones(1, 1);
  hmm.emission =
      Eigen::Map<const RealVector>(probabilities.data(), static_cast<Index>(probabilities.size()));
  hmm.initial = RealVector::Ones(1);
  return hmm;
}

TEST(Score, AddsUpByHand) {
  // Three sequences: x = 1 − bits/2 per symbol: 0.5, 0 and −0.5.
  const Hmm hmm = memoryless({0.5, 0.25, 0.125, 0.125});
  const SequenceSet set(hmm.alphabet, {{0, 0}, {1, 1, 1}, {2}});
  const Score found = score(hmm, set, {.burn_in = 0});
  EXPECT_EQ(found.sequences, 3U);
  EXPECT_EQ(found.skipped, 0U);
  EXPECT_EQ(found.symbols, 6U);
  EXPECT_NEAR(found.log_likelihood, -(2 + 6 + 3) * std::log(2.0), 1e-14);
  EXPECT_NEAR(found.bits_per_symbol.value(), 11.0 / 6.0, 1e-14);
  EXPECT_NEAR(found.perplexity.value(), std::exp2(11.0 / 6.0), 1e-13);
  const double a = 0.5;
  const double b = 0.0;
  const double c = std::tanh(-0.5 / 8.0);
  const double mean = (a + b + c) / 3.0;
  EXPECT_NEAR(found.da_mean.value(), mean, 1e-14);
  const double squares =
      (a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean);
  EXPECT_NEAR(found.da_std.value(), std::sqrt(squares / 2.0), 1e-14);  // over N − 1
  EXPECT_FALSE(found.raw);
  ASSERT_EQ(found.per_sequence.size(), 3U);
  EXPECT_NEAR(found.per_sequence[1].log_likelihood, -6 * std::log(2.0), 1e-14);
}

TEST(Score, OneSequenceHasNoDeviation) {
  const Hmm hmm = memoryless({0.5, 0.5});
  const Score found = score(hmm, SequenceSet(hmm.alphabet, {{0, 1}}), {.burn_in = 0});
  EXPECT_TRUE(found.da_mean);
  EXPECT_FALSE(found.da_std);
}

TEST(Score, SequencesThatEndWithinTheBurnInAreSkipped) {
  const Hmm hmm = memoryless({0.5, 0.25, 0.25});
  const SequenceSet set(hmm.alphabet, {{0, 0, 0}, {0, 0}, {}, {0, 0, kMissing}});
  const Score found = score(hmm, set, {.burn_in = 2});
  EXPECT_EQ(found.sequences, 1U);
  EXPECT_EQ(found.skipped, 3U);
  EXPECT_EQ(found.symbols, 1U);
  EXPECT_NEAR(found.da_mean.value(), 1.0 - std::log(2.0) / std::log(3.0), 1e-15);
  EXPECT_EQ(found.per_sequence.size(), 4U);
}

TEST(Score, OfNothingHasNoFigures) {
  const Hmm hmm = memoryless({0.5, 0.5});
  const Score found = score(hmm, SequenceSet(hmm.alphabet, {{0}}), {.burn_in = 5});
  EXPECT_EQ(found.symbols, 0U);
  EXPECT_FALSE(found.da_mean);
  EXPECT_FALSE(found.bits_per_symbol);
  EXPECT_FALSE(found.perplexity);
}

TEST(Score, OverOneSymbolHasBitsButNoAccuracy) {
  const Hmm hmm = memoryless({1.0});
  const Score found = score(hmm, SequenceSet(hmm.alphabet, {{0, 0}}), {.burn_in = 0});
  EXPECT_FALSE(found.da_mean);
  EXPECT_EQ(found.bits_per_symbol, 0.0);
  EXPECT_EQ(found.perplexity, 1.0);
}

TEST(Score, AnImpossibleSequenceIsCountedAndHasAccuracyMinusOne) {
  const Hqmm model = synthetic_hqmm();
  const SequenceSet set(model.alphabet, {{0, 1, 2}, {0, 0, 2}});
  const Score found = score(model, set, {.burn_in = 0});
  EXPECT_EQ(found.impossible, 1U);
  EXPECT_EQ(found.log_likelihood, -kInfinity);
  EXPECT_EQ(found.perplexity, kInfinity);
  EXPECT_EQ(found.per_sequence[0].impossible_at, 1U);
  const double other = description_accuracy(found.per_sequence[1].log_likelihood, 3, 6).value();
  EXPECT_NEAR(found.da_mean.value(), (-1.0 + other) / 2.0, 1e-15);
}

TEST(Score, OfAnInfeasibleModelIsNormalisedWithRawBesideIt) {
  const Hqmm model = synthetic_hqmm();
  const SequenceSet set = sample(model, {4, 100, 1, 0, 1});
  const Score honest = score(model, set, {.burn_in = 10});
  EXPECT_FALSE(honest.raw);
  EXPECT_LE(honest.feasibility_residual, 1e-15);

  Hqmm scaled = model;
  scaled.sets[0].gamma() *= 1.1;
  const Score found = score(scaled, set, {.burn_in = 10});
  EXPECT_NEAR(found.feasibility_residual, 0.21 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(found.log_likelihood, honest.log_likelihood, 1e-10);
  EXPECT_NEAR(found.da_mean.value(), honest.da_mean.value(), 1e-12);
  ASSERT_TRUE(found.raw);
  const double gain = 2.0 * std::log(1.1);
  EXPECT_NEAR(found.raw->log_likelihood, honest.log_likelihood + 360 * gain, 1e-10);
  EXPECT_NEAR(found.raw->da_mean.value(), honest.da_mean.value() + gain / std::log(6.0), 1e-12);
  EXPECT_NEAR(found.raw->bits_per_symbol.value(),
              honest.bits_per_symbol.value() - gain / std::log(2.0), 1e-12);
}

TEST(Score, IsTheSameAtAnyThreadCount) {
  const SequenceSet set = sample(synthetic_hmm(), {40, 60, 1, 0, 0});
  const Score one = score(synthetic_hmm(), set, {.burn_in = 3, .threads = 1});
  const Score two = score(synthetic_hmm(), set, {.burn_in = 3, .threads = 2});
  EXPECT_EQ(one.log_likelihood, two.log_likelihood);
  EXPECT_EQ(one.da_mean, two.da_mean);
  EXPECT_EQ(one.da_std, two.da_std);
}

TEST(Score, AWeightedSequenceCountsAsOftenAsItsWeightSays) {
  const Hmm model = memoryless({0.5, 0.3, 0.2});
  const std::vector<Symbol> a{0, 1, 2}, b{1, 1, 1, 2, kMissing};
  SequenceSet weighted(model.alphabet, {a, b});
  weighted.set_weights({1, 3});  // in units of their mean: 1/2 and 3/2
  const Score found = score(model, weighted, {.burn_in = 0, .threads = 1});
  const Score often =
      score(model, SequenceSet(model.alphabet, {a, b, b, b}), {.burn_in = 0, .threads = 1});
  EXPECT_NEAR(found.log_likelihood, often.log_likelihood / 2, 1e-12);
  EXPECT_NEAR(found.bits_per_symbol.value(), often.bits_per_symbol.value(), 1e-12);
  EXPECT_NEAR(found.da_mean.value(), often.da_mean.value(), 1e-12);
  EXPECT_EQ(found.symbols, 7u);
  EXPECT_EQ(found.per_sequence[1].log_likelihood, often.per_sequence[1].log_likelihood);
}

}  // namespace
}  // namespace hqmm::detail::testing
