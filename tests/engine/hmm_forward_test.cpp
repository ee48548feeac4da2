// Scoring whole sets by tiles against the filter that goes symbol by symbol.
#include "hqmm/engine/classical/hmm_forward.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kHmmForwardSeed = 92;

void expect_as_filtered(const Hmm& model, const SequenceSet& set, std::size_t burn_in) {
  const auto found = hmm_log_likelihoods(model, set, burn_in, 1);
  const auto expected = log_likelihoods(model, set, burn_in, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].scored, expected[i].scored);
    EXPECT_EQ(found[i].impossible_at, expected[i].impossible_at);
    EXPECT_EQ(found[i].raw_log_likelihood, found[i].log_likelihood);
    if (std::isfinite(expected[i].log_likelihood)) {
      EXPECT_NEAR(found[i].log_likelihood, expected[i].log_likelihood,
                  1e-12 * (1.0 + std::abs(expected[i].log_likelihood)));
    } else {
      EXPECT_EQ(found[i].log_likelihood, expected[i].log_likelihood);
    }
  }
}

SequenceSet random_set(const Hmm& model, std::size_t count, std::size_t most, RandomStream& random,
                       double missing_share) {
  std::vector<std::vector<Symbol>> sequences;
  for (std::size_t i = 0; i < count; ++i) {
    sequences.push_back(testing::random_symbols(random.below(most + 1), model.alphabet_size(),
                                                random, missing_share));
  }
  return {model.alphabet, sequences};
}

TEST(HmmForward, RandomShapesScoreAsTheFilterDoes) {
  for (std::uint64_t index = 0; index < 80; ++index) {
    SCOPED_TRACE(index);
    RandomStream random(kHmmForwardSeed, Purpose::kTest, index);
    const Hmm model = testing::random_started_hmm(static_cast<Index>(1 + random.below(40)),
                                                  static_cast<Index>(1 + random.below(25)), random);
    const SequenceSet set = random_set(model, 1 + random.below(40), 120, random, 0.15);
    for (const std::size_t burn_in : {0, 1, 5, 32, 100, 1000})
      expect_as_filtered(model, set, burn_in);
  }
}

TEST(HmmForward, WideAlphabetsAndLongSequencesScoreAsTheFilterDoes) {
  RandomStream random(kHmmForwardSeed, Purpose::kTest, 100);
  const Hmm wide = testing::random_started_hmm(3, 700, random);
  expect_as_filtered(wide, random_set(wide, 20, 400, random, 0.1), 7);
  const Hmm narrow = testing::random_started_hmm(2, 3, random);
  expect_as_filtered(narrow, random_set(narrow, 3, 200000, random, 0.1), 100);
}

TEST(HmmForward, TinyProbabilitiesScoreAsTheFilterDoes) {
  for (const double tiny : {1e-20, 1e-300, 1e-315}) {
    SCOPED_TRACE(tiny);
    RandomStream random(kHmmForwardSeed, Purpose::kTest, 101);
    Hmm model = testing::random_started_hmm(3, 2, random);
    model.emission.row(0).setConstant(tiny);
    model.emission.row(1).setConstant(1.0 - tiny);
    for (const std::size_t burn_in : {0, 9})
      expect_as_filtered(model, random_set(model, 30, 200, random, 0.1), burn_in);
  }
}

TEST(HmmForward, ImpossibleSymbolsAreNamedAndScoredAsTheFilterDoes) {
  Hmm model;
  model.alphabet = Alphabet::integers(3);
  model.transition = RealMatrix{{0.0, 1.0}, {1.0, 0.0}};
  model.emission = RealMatrix{{1.0, 0.0}, {0.0, 0.5}, {0.0, 0.5}};
  model.initial = RealVector{{1.0, 0.0}};
  RandomStream random(kHmmForwardSeed, Purpose::kTest, 102);
  const SequenceSet set = random_set(model, 200, 60, random, 0.5);
  const SequenceSet fine(model.alphabet, {{1, 0, 2, 0, 1}, {1, 0}, {kMissing, 0}, {}, {0}});
  for (const std::size_t burn_in : {0, 1, 3}) {
    expect_as_filtered(model, set, burn_in);
    expect_as_filtered(model, fine, burn_in);
  }
  EXPECT_EQ(hmm_log_likelihoods(model, fine, 0, 1)[4].impossible_at, 0U);
}

TEST(HmmForward, ACertainSequenceScoresExactlyZero) {
  Hmm model;
  model.alphabet = Alphabet::integers(2);
  model.transition = RealMatrix{{0.0, 1.0}, {1.0, 0.0}};
  model.emission = RealMatrix::Identity(2, 2);
  model.initial = RealVector{{1.0, 0.0}};
  std::vector<Symbol> symbols(100);
  for (std::size_t t = 0; t < symbols.size(); ++t) symbols[t] = static_cast<Symbol>((t + 1) % 2);
  const auto found = hmm_log_likelihoods(model, SequenceSet(model.alphabet, {symbols}), 0, 1);
  EXPECT_EQ(found[0].log_likelihood, 0.0);
  EXPECT_EQ(found[0].scored, 100U);
}

TEST(HmmForward, ColumnsABitOffScoreAsTheFilterDoes) {
  RandomStream random(kHmmForwardSeed, Purpose::kTest, 103);
  Hmm model = testing::random_started_hmm(4, 3, random);
  model.transition *= 1.0 + 8e-10;
  model.initial *= 1.0 - 8e-10;
  for (const std::size_t burn_in : {0, 3})
    expect_as_filtered(model, random_set(model, 20, 100, random, 0.4), burn_in);
}

// Neither the threads nor the company of other sequences shows in a sequence's number.
TEST(HmmForward, ASequenceHasTheSameBytesInAnySetAndAtAnyThreadCount) {
  for (const Index n : {2, 6, 13, 40}) {
    RandomStream random(kHmmForwardSeed, Purpose::kTest, 110 + static_cast<std::uint64_t>(n));
    const Hmm model = testing::random_started_hmm(n, 4, random);
    const SequenceSet set = random_set(model, 60, 150, random, 0.1);
    const auto together = hmm_log_likelihoods(model, set, 3, 1);
    for (const int threads : {2, 3}) {
      const auto again = hmm_log_likelihoods(model, set, 3, threads);
      for (std::size_t i = 0; i < set.size(); ++i)
        EXPECT_EQ(again[i].log_likelihood, together[i].log_likelihood);
    }
    for (std::uint32_t i = 0; i < set.size(); ++i) {
      EXPECT_EQ(hmm_log_likelihoods(model, set.subset({i}), 3, 1)[0].log_likelihood,
                together[i].log_likelihood);
    }
  }
}

TEST(HmmForward, RefusesASymbolThatTheModelDoesNotHave) {
  RandomStream random(kHmmForwardSeed, Purpose::kTest, 120);
  const Hmm model = testing::random_started_hmm(2, 3, random);
  const SequenceSet set(Alphabet::integers(9), {{0, 1, 2}, {0, kMissing, 3}});
  testing::expect_error(ErrorCode::kBadData, "symbol 2 of sequence 1 is 3",
                        [&] { (void)hmm_log_likelihoods(model, set, 0, 1); });
}

}  // namespace
}  // namespace hqmm::detail
