// The most probable path: against the enumeration of all paths, and against the recursion as it is
// written down where there are too many.
#include "hqmm/model/viterbi.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

/// log P(states, symbols), the state before the first symbol summed over.
long double log_joint(const EdgeHmm& hmm, const std::vector<Symbol>& symbols,
                      const std::vector<std::uint32_t>& states) {
  const RealMatrix total = hmm.transition();
  const auto step = [&](std::size_t t) -> const RealMatrix& {
    return symbols[t] == kMissing ? total : hmm.edges[symbols[t]];
  };
  long double sum = 0.0L;
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    long double p = 0.0L;
    if (t > 0) {
      p = step(t)(states[t], states[t - 1]);
    } else {
      for (Index j = 0; j < hmm.latent_dim(); ++j)
        p += static_cast<long double>(step(0)(states[0], j)) * hmm.initial(j);
    }
    sum += std::log(p);
  }
  return sum;
}

/// The largest of all nᵀ paths.
long double best_by_enumeration(const EdgeHmm& hmm, const std::vector<Symbol>& symbols) {
  const auto n = static_cast<std::uint32_t>(hmm.latent_dim());
  std::vector<std::uint32_t> states(symbols.size(), 0);
  long double best = -std::numeric_limits<long double>::infinity();
  while (true) {
    best = std::max(best, log_joint(hmm, symbols, states));
    std::size_t t = 0;
    while (t < states.size() && ++states[t] == n) states[t++] = 0;
    if (t == states.size()) return best;
  }
}

/// The recursion in long double logarithms, every choice kept: only the value.
long double best_by_recursion(const EdgeHmm& hmm, const std::vector<Symbol>& symbols) {
  const RealMatrix total = hmm.transition();
  const Index n = hmm.latent_dim();
  std::vector<long double> delta(static_cast<std::size_t>(n)), next(delta);
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    const RealMatrix& step = symbols[t] == kMissing ? total : hmm.edges[symbols[t]];
    for (Index i = 0; i < n; ++i) {
      long double sum = 0.0L, most = -std::numeric_limits<long double>::infinity();
      for (Index j = 0; j < n; ++j) {
        const long double p = step(i, j);
        sum += p * hmm.initial(j);
        most = std::max(most, delta[static_cast<std::size_t>(j)] + std::log(p));
      }
      next[static_cast<std::size_t>(i)] = t == 0 ? std::log(sum) : most;
    }
    delta = next;
  }
  return *std::max_element(delta.begin(), delta.end());
}

template <typename Model>
StatePath path_of(const Model& hmm, const std::vector<Symbol>& symbols) {
  const SequenceSet set(hmm.alphabet, {symbols});
  return most_probable_path(hmm, set[0]);
}

TEST(Viterbi, FindsTheBestOfAllPaths) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    RandomStream random(71, Purpose::kTest, i);
    const Index n = 1 + static_cast<Index>(random.below(3)), s = 2;
    const auto symbols = random_symbols(1 + random.below(6), s, random, 0.3);
    const EdgeHmm edge = random_started_edge_hmm(n, s, random);
    const StatePath found = path_of(edge, symbols);
    const auto best = static_cast<double>(best_by_enumeration(edge, symbols));
    EXPECT_NEAR(found.log_probability, best, 1e-12);
    EXPECT_NEAR(static_cast<double>(log_joint(edge, symbols, found.states)), best, 1e-12);
    const Hmm hmm = random_started_hmm(n, s, random);
    const StatePath other = path_of(hmm, symbols);
    const auto best_of_hmm = static_cast<double>(best_by_enumeration(as_edge_hmm(hmm), symbols));
    EXPECT_NEAR(other.log_probability, best_of_hmm, 1e-12);
    EXPECT_NEAR(static_cast<double>(log_joint(as_edge_hmm(hmm), symbols, other.states)),
                best_of_hmm, 1e-12);
  }
}

TEST(Viterbi, LongSequencesNeitherUnderflowNorLoseTheirWay) {
  RandomStream random(72, Purpose::kTest);
  const Hmm hmm = random_started_hmm(4, 3, random);
  const EdgeHmm edge = as_edge_hmm(hmm);
  for (const std::size_t length : {4095UL, 4096UL, 4097UL, 20000UL}) {  // blocks are of 4096
    const auto symbols = random_symbols(length, 3, random, 0.05);
    const auto best = static_cast<double>(best_by_recursion(edge, symbols));
    const StatePath found = path_of(hmm, symbols);
    ASSERT_EQ(found.states.size(), length);
    EXPECT_LT(found.log_probability, -2000.0);
    EXPECT_NEAR(found.log_probability, best, 1e-12 * std::abs(best));
    EXPECT_NEAR(static_cast<double>(log_joint(edge, symbols, found.states)), best,
                1e-12 * std::abs(best));
    // paths may be equally probable: it need not be the same one
    EXPECT_NEAR(path_of(edge, symbols).log_probability, best, 1e-12 * std::abs(best));
  }
}

TEST(Viterbi, AnImpossibleSymbolIsMinusInfinityAndThePathGoesOn) {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(3);
  hmm.transition = RealMatrix::Identity(2, 2);
  hmm.emission = RealMatrix::Zero(3, 2);
  hmm.emission(0, 0) = hmm.emission(1, 1) = 1.0;
  hmm.initial = RealVector::Constant(2, 0.5);
  const StatePath sure = path_of(hmm, {1, 1, 1});
  EXPECT_EQ(sure.states, (std::vector<std::uint32_t>{1, 1, 1}));
  EXPECT_NEAR(sure.log_probability, std::log(0.5), 1e-15);
  const StatePath found = path_of(hmm, {1, 2, 1, 0});
  EXPECT_EQ(found.states, (std::vector<std::uint32_t>{1, 1, 1, 1}));
  EXPECT_EQ(found.log_probability, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(path_of(as_edge_hmm(hmm), {1, 2, 1, 0}).states, found.states);
  EXPECT_TRUE(path_of(hmm, {}).states.empty());
}

}  // namespace
}  // namespace hqmm::detail::testing
