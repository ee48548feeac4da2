// Expected counts of edges: against enumeration, and against the E step of ordinary HMMs.
#include "hqmm/engine/classical/edge_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/classical/edge_long.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/model/likelihood.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
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

/// Every symbol so improbable that a few of them leave the range of doubles.
Hmm hardly_possible(RandomStream& random) {
  Hmm hmm = random_started_hmm(3, 3, random);
  hmm.emission.row(0) *= 1e-150;
  hmm.emission.row(1) *= 1e-100;
  for (Index i = 0; i < 3; ++i) hmm.emission(2, i) = 1.0 - hmm.emission(0, i) - hmm.emission(1, i);
  return hmm;
}

TEST(EdgeCounts, OfSymbolsThatAreHardlyPossible) {
  RandomStream random(66, Purpose::kTest);
  const Hmm hmm = hardly_possible(random);
  const SequenceSet set(hmm.alphabet, {std::vector<Symbol>(30, 0),
                                       random_symbols(50, 3, random),
                                       {kMissing, kMissing},
                                       std::vector<Symbol>(20, 1)});
  const ExpectedCounts expected = expected_counts(hmm, set, 1, kNever).value();
  const EdgeCounts counts = expected_edges(as_edge_hmm(hmm), set, 1, kNever).value();
  EXPECT_FALSE(counts.impossible.has_value());
  EXPECT_EQ(counts.scored, 100U);
  EXPECT_NEAR(counts.log_likelihood / expected.log_likelihood, 1.0, 1e-12);
  RealMatrix transitions = RealMatrix::Zero(3, 3);
  for (const RealMatrix& edge : counts.edges) transitions += edge;
  EXPECT_LE(norm_distance(transitions, expected.transitions), 1e-10);
  EXPECT_LE(norm_distance(counts.initial, expected.initial), 1e-10);
}

/// One sequence long enough to be shared between threads, among others.
SequenceSet set_with_a_long_one(std::size_t length, RandomStream& random) {
  SequenceSet set(Alphabet::integers(3));
  const std::vector<std::size_t> lengths{50, length, 0, 300};
  for (const std::size_t one : lengths) {
    for (const Symbol symbol : random_symbols(one, 3, random, 0.01)) set.push_back(symbol);
    set.end_sequence();
  }
  set.set_weights({1.0, 2.0, 1.0, 0.5});
  return set;
}

TEST(EdgeCounts, LongSequencesAreSharedBetweenThreads) {
  RandomStream random(68, Purpose::kTest);
  const SequenceSet set = set_with_a_long_one(kLongForEdges + 1234, random);
  const Hmm hmm = random_started_hmm(3, 3, random);
  const EdgeHmm edge = as_edge_hmm(hmm);
  ExpectedCounts expected(hmm);
  for (std::size_t i = 0; i < set.size(); ++i)
    (void)careful_counts(hmm, set[i], expected, set.weight(i));
  const ExpectedCounts found = expected_counts(hmm, set, 1, kNever).value();
  const ExpectedCounts by_two = expected_counts(hmm, set, 2, kNever).value();
  const EdgeCounts of_edges = expected_edges(edge, set, 1, kNever).value();
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_NEAR(found.log_likelihood / expected.log_likelihood, 1.0, 1e-12);
  EXPECT_LE(norm_distance(found.transitions, expected.transitions), 1e-7);
  EXPECT_LE(norm_distance(found.emissions, expected.emissions), 1e-7);
  EXPECT_LE(norm_distance(found.initial, expected.initial), 1e-9);
  EXPECT_EQ(of_edges.scored, expected.scored);
  EXPECT_NEAR(of_edges.log_likelihood / expected.log_likelihood, 1.0, 1e-12);
  RealMatrix transitions = RealMatrix::Zero(3, 3);
  for (const RealMatrix& counts : of_edges.edges) transitions += counts;
  EXPECT_LE(norm_distance(transitions, expected.transitions), 1e-7);
  EXPECT_LE(norm_distance(of_edges.initial, expected.initial), 1e-9);
  EXPECT_EQ(found.transitions, by_two.transitions);
  EXPECT_EQ(found.emissions, by_two.emissions);
  EXPECT_EQ(found.initial, by_two.initial);
  EXPECT_EQ(found.log_likelihood, by_two.log_likelihood);
}

TEST(EdgeForward, ScoresAreThoseOfTheFilter) {
  for (std::uint64_t k = 0; k < 12; ++k) {
    RandomStream random(67, Purpose::kTest, k);
    const auto s = static_cast<Index>(1 + random.below(5));
    EdgeHmm hmm = random_started_edge_hmm(1 + static_cast<Index>(random.below(9)), s, random);
    if (k % 3 == 0)
      hmm.edges[0] *= 1e-130;  // not of columns that sum to one, and out of range soon
    if (k % 4 == 1) hmm.edges[0].setZero();
    SequenceSet set(hmm.alphabet);
    for (const std::size_t length : {0, 1, 7, 300, 2, 40, 1000}) {
      for (const Symbol symbol : random_symbols(length, s, random, k % 2 == 0 ? 0.1 : 0.0))
        set.push_back(symbol);
      set.end_sequence();
    }
    for (const std::size_t burn_in : {0, 3, 500}) {
      const auto expected = log_likelihoods(hmm, set, burn_in, 1);
      for (const int threads : {1, 2}) {
        const auto found = fast_log_likelihoods(hmm, set, burn_in, threads);
        for (std::size_t i = 0; i < set.size(); ++i) {
          EXPECT_EQ(found[i].scored, expected[i].scored);
          EXPECT_EQ(found[i].impossible_at, expected[i].impossible_at);
          if (expected[i].impossible_at) continue;
          EXPECT_NEAR(found[i].log_likelihood, expected[i].log_likelihood,
                      1e-12 * (1.0 + std::abs(expected[i].log_likelihood)));
          EXPECT_EQ(found[i].raw_log_likelihood, found[i].log_likelihood);
        }
      }
    }
  }
}

TEST(EdgeCounts, StopWhenAsked) {
  RandomStream random(65, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(2, 3, random);
  EXPECT_FALSE(expected_edges(hmm, long_set(random), 1, [] { return true; }).has_value());
}

}  // namespace
}  // namespace hqmm::detail::testing
