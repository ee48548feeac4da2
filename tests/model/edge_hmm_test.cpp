// Hidden Markov models that emit on their edges: the definition, by enumeration, and what they
// share with the others.
#include "hqmm/model/edge_hmm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/model/channel.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/smoothing.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

double probability(const AnyModel& model, const std::vector<Symbol>& symbols) {
  const SequenceSet one(alphabet_of(model), {symbols});
  return std::exp(log_likelihoods(model, one, 0, 1)[0].log_likelihood);
}

TEST(EdgeHmm, LikelihoodIsTheSumOverAllPaths) {
  for (std::uint64_t i = 0; i < 12; ++i) {
    RandomStream random(41, Purpose::kTest, i);
    const Index n = 1 + static_cast<Index>(random.below(4));
    const Index s = 1 + static_cast<Index>(random.below(4));
    const EdgeHmm hmm = random_started_edge_hmm(n, s, random);
    EXPECT_NO_THROW(require_valid(hmm));
    const std::vector<Symbol> symbols = random_symbols(6, s, random);
    EXPECT_NEAR(probability(hmm, symbols) / naive_probability(hmm, symbols), 1.0, 1e-12);
  }
}

TEST(EdgeHmm, ProbabilitiesOfAllSequencesSumToOne) {
  RandomStream random(42, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(3, 3, random);
  for (const std::size_t length : {1UL, 2UL, 5UL}) {
    const double sum = sum_over_sequences(
        length, 3, [&](const std::vector<Symbol>& x) { return probability(hmm, x); });
    EXPECT_NEAR(sum, 1.0, 1e-12) << length;
  }
}

TEST(EdgeHmm, AMissingSymbolIsSummedOver) {
  RandomStream random(43, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(3, 2, random);
  const std::vector<Symbol> holes{0, kMissing, 1, kMissing, 0};
  const double filled =
      sum_over_missing(holes, 2, [&](const std::vector<Symbol>& x) { return probability(hmm, x); });
  EXPECT_NEAR(probability(hmm, holes), filled, 1e-13);
}

/// Step by step, whatever the types: weights and what comes next.
template <typename A, typename B>
void expect_same_process(const A& a, const B& b, RandomStream& random) {
  auto first = make_filter(a);
  auto second = make_filter(b);
  const std::size_t s = a.alphabet.size();
  std::vector<double> expected(s);
  std::vector<double> found(s);
  for (const Symbol symbol : random_symbols(60, static_cast<Index>(s), random, 0.2)) {
    first.next_distribution(expected);
    second.next_distribution(found);
    for (std::size_t y = 0; y < s; ++y) EXPECT_NEAR(found[y], expected[y], 1e-12);
    EXPECT_NEAR(second.step(symbol).raw, first.step(symbol).raw, 1e-12);
  }
}

TEST(EdgeHmm, AnOrdinaryHmmIsOneOfThem) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    RandomStream random(44, Purpose::kTest, i);
    const Hmm hmm = random_started_hmm(1 + static_cast<Index>(random.below(5)), 3, random);
    const EdgeHmm edge = as_edge_hmm(hmm);
    EXPECT_NO_THROW(require_valid(edge));
    expect_same_process(hmm, edge, random);
    EXPECT_NEAR(norm_distance(channel_fixed_point(hmm).state, channel_fixed_point(edge).state), 0.0,
                1e-10);
  }
}

TEST(EdgeHmm, EmbeddingsAreTheSameProcess) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    RandomStream random(45, Purpose::kTest, i);
    const EdgeHmm hmm = random_started_edge_hmm(1 + static_cast<Index>(random.below(4)), 3, random);
    for (const Hqmm& embedded : {embed_rank_one(hmm), embed_cyclic(hmm)}) {
      EXPECT_LE(feasibility_residual(embedded), 1e-13);
      EXPECT_EQ(embedded.kraus_rank(), hmm.latent_dim());
      expect_same_process(hmm, embedded, random);
    }
  }
}

TEST(EdgeHmm, SmoothingMovesProbabilitiesTowardsTheMeanOfTheSymbols) {
  RandomStream random(46, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(3, 4, random);
  const EdgeHmm smooth = smoothed(hmm, 0.3);
  EXPECT_NO_THROW(require_valid(smooth));
  std::vector<double> before(4);
  std::vector<double> after(4);
  make_filter(hmm).next_distribution(before);
  make_filter(smooth).next_distribution(after);
  for (std::size_t y = 0; y < 4; ++y) EXPECT_NEAR(after[y], 0.7 * before[y] + 0.3 / 4, 1e-13);
}

TEST(EdgeHmm, SampledSymbolsHaveTheirFrequencies) {
  RandomStream random(47, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(2, 2, random);
  SampleOptions options;
  options.count = 20000;
  options.length = 2;
  const SequenceSet drawn = sample(hmm, options);
  double both = 0.0;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    if (drawn[i][0] == 1 && drawn[i][1] == 1) both += 1.0;
  const double p = naive_probability(hmm, {1, 1});
  EXPECT_NEAR(both / 20000, p, 5.0 * std::sqrt(p * (1.0 - p) / 20000));
}

TEST(EdgeHmm, WhatIsWrongIsNamed) {
  RandomStream random(48, Purpose::kTest);
  const EdgeHmm good = random_started_edge_hmm(2, 3, random);
  EdgeHmm bad = good;
  bad.edges[1](0, 1) = -0.25;
  expect_error(ErrorCode::kBadData, "edges[1][0,1] = -0.25 is negative",
               [&] { require_valid(bad); });
  bad = good;
  bad.edges[2](0, 1) += 0.5;
  expect_error(ErrorCode::kBadData, "column 1 of the edges of all symbols sums to 1.5",
               [&] { require_valid(bad); });
  bad = good;
  bad.edges[0] = RealMatrix::Zero(3, 2);
  expect_error(ErrorCode::kBadData, "edges[0] is 3×2", [&] { require_valid(bad); });
  bad = good;
  bad.edges.pop_back();
  expect_error(ErrorCode::kBadData, "the alphabet has 3 symbols, the edges 2",
               [&] { require_valid(bad); });
}

}  // namespace
}  // namespace hqmm::detail::testing
