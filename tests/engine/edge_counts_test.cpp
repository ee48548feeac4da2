// Expected counts of edges: against enumeration, and against the E step of ordinary HMMs.
#include "hqmm/engine/classical/edge_counts.hpp"

#include <gtest/gtest.h>

#include "hqmm/engine/likelihood.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::testing {
namespace {

const std::function<bool()> kNever = [] { return false; };

/// P(symbols and the edge (y, i, j) at t) / P(symbols), by blotting out every other edge at t.
double posterior(const EdgeHmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                 std::size_t y, Index i, Index j) {
  const auto forward = [&] {
    RealVector x = hmm.initial;
    for (std::size_t k = 0; k < t; ++k)
      x = (symbols[k] == kMissing ? hmm.transition() : hmm.edges[symbols[k]]) * x;
    return x;
  };
  if (symbols[t] != kMissing && symbols[t] != y) return 0.0;
  const auto rest = static_cast<double>(sum_over_paths(hmm, symbols, t + 1, i));
  return forward()(j) * hmm.edges[y](i, j) * rest / naive_probability(hmm, symbols);
}

TEST(EdgeCounts, AreTheSumsOfPosteriors) {
  RandomStream random(61, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(3, 3, random);
  const std::vector<std::vector<Symbol>> rows{{0, 2, 1, 1}, {}, {1, kMissing, 0}, {2}};
  const SequenceSet set(hmm.alphabet, rows);
  const EdgeCounts counts = expected_edges(hmm, set, 1, kNever).value();
  EXPECT_EQ(counts.scored, 7U);
  EXPECT_NEAR(counts.initial.sum(), 4.0, 1e-12);
  for (std::size_t y = 0; y < 3; ++y) {
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        double expected = 0.0;
        for (const auto& row : rows)
          for (std::size_t t = 0; t < row.size(); ++t) expected += posterior(hmm, row, t, y, i, j);
        EXPECT_NEAR(counts.edges[y](i, j), expected, 1e-12);
      }
    }
  }
}

/// Long enough to be computed again in blocks, many enough for several parts.
SequenceSet long_set(RandomStream& random) {
  SequenceSet set(Alphabet::integers(3));
  for (const std::size_t length : {9000UL, 1UL, 4096UL, 4097UL, 300UL, 8192UL}) {
    for (const Symbol symbol : random_symbols(length, 3, random)) set.push_back(symbol);
    set.end_sequence();
  }
  return set;
}

TEST(EdgeCounts, OfAnOrdinaryHmmAreItsOwn) {
  RandomStream random(62, Purpose::kTest);
  const Hmm hmm = random_started_hmm(4, 3, random);
  const SequenceSet set = long_set(random);
  const ExpectedCounts expected = expected_counts(hmm, set, 1, kNever).value();
  const EdgeCounts counts = expected_edges(as_edge_hmm(hmm), set, 2, kNever).value();
  EXPECT_EQ(counts.scored, expected.scored);
  EXPECT_NEAR(counts.log_likelihood, expected.log_likelihood,
              1e-9 * static_cast<double>(expected.scored));
  RealMatrix transitions = RealMatrix::Zero(4, 4);
  for (std::size_t y = 0; y < 3; ++y) {
    transitions += counts.edges[y];
    const RealVector emitted = counts.edges[y].rowwise().sum();
    EXPECT_LE(norm_distance(emitted, RealVector(expected.emissions.row(static_cast<Index>(y)))),
              1e-7);
  }
  EXPECT_LE(norm_distance(transitions, expected.transitions), 1e-7);
  EXPECT_LE(norm_distance(counts.initial, expected.initial), 1e-9);
}

TEST(EdgeCounts, AreTheSameBytesAtAnyThreadCount) {
  RandomStream random(63, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(3, 3, random);
  const SequenceSet set = long_set(random);
  const EdgeCounts one = expected_edges(hmm, set, 1, kNever).value();
  const EdgeCounts two = expected_edges(hmm, set, 2, kNever).value();
  EXPECT_EQ(one.log_likelihood, two.log_likelihood);
  EXPECT_EQ(one.initial, two.initial);
  for (std::size_t y = 0; y < 3; ++y) EXPECT_EQ(one.edges[y], two.edges[y]);
  double sum = 0.0;
  for (const SequenceLikelihood& each : fast_log_likelihoods(hmm, set, 0, 1))
    sum += each.log_likelihood;
  EXPECT_NEAR(one.log_likelihood, sum, 1e-9 * static_cast<double>(one.scored));
}

TEST(EdgeCounts, NameTheFirstImpossibleSymbol) {
  RandomStream random(64, Purpose::kTest);
  EdgeHmm hmm = random_started_edge_hmm(2, 2, random);
  hmm.edges[1] += hmm.edges[0];
  hmm.edges[0].setZero();
  const SequenceSet set(hmm.alphabet, {{1, 1}, {1, 1, 0}, {0}});
  const EdgeCounts counts = expected_edges(hmm, set, 1, kNever).value();
  ASSERT_TRUE(counts.impossible.has_value());
  EXPECT_EQ(counts.impossible->sequence, 1U);
  EXPECT_EQ(counts.impossible->position, 2U);
  EXPECT_EQ(counts.scored, 2U);
}

TEST(EdgeCounts, StopWhenAsked) {
  RandomStream random(65, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(2, 3, random);
  EXPECT_FALSE(expected_edges(hmm, long_set(random), 1, [] { return true; }).has_value());
}

}  // namespace
}  // namespace hqmm::testing
