// States given the whole sequence: against enumeration and products as they are written down, and
// HQMMs that are HMMs against the HMMs.
#include "hqmm/model/retrodiction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/model/embedding.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

template <typename Model>
StatePosteriors posteriors(const Model& model, const std::vector<Symbol>& symbols) {
  const SequenceSet set(model.alphabet, {symbols});
  return state_posteriors(model, set[0]);
}

std::vector<PastQuantumState> pairs_of(const Hqmm& model, const std::vector<Symbol>& symbols) {
  const SequenceSet set(model.alphabet, {symbols});
  std::vector<PastQuantumState> out(symbols.size());
  retrodict(model, set[0], [&](std::size_t t, const PastQuantumState& pair) { out[t] = pair; });
  return out;
}

/// P(state i after symbol t | symbols): forward products, and the sum over every path from there.
double naive_posterior(const EdgeHmm& hmm, const std::vector<Symbol>& symbols, std::size_t t,
                       Index i) {
  RealVector x = hmm.initial;
  for (std::size_t k = 0; k <= t; ++k)
    x = RealVector((symbols[k] == kMissing ? hmm.transition() : hmm.edges[symbols[k]]) * x);
  return x(i) * static_cast<double>(sum_over_paths(hmm, symbols, t + 1, i)) /
         naive_probability(hmm, symbols);
}

TEST(StatePosteriors, AreThoseOfEnumeration) {
  for (std::uint64_t k = 0; k < 20; ++k) {
    RandomStream random(81, Purpose::kTest, k);
    const Index n = 1 + static_cast<Index>(random.below(4));
    const auto symbols = random_symbols(1 + random.below(6), 3, random, 0.3);
    const Hmm hmm = random_started_hmm(n, 3, random);
    const EdgeHmm edge = random_started_edge_hmm(n, 3, random);
    const StatePosteriors of_hmm = posteriors(hmm, symbols);
    const StatePosteriors of_edge = posteriors(edge, symbols);
    EXPECT_NEAR(of_hmm.log_likelihood, std::log(naive_probability(hmm, symbols)), 1e-11);
    EXPECT_NEAR(of_edge.log_likelihood, std::log(naive_probability(edge, symbols)), 1e-11);
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      for (Index i = 0; i < n; ++i) {
        const auto at = static_cast<Index>(t);
        EXPECT_NEAR(of_hmm.states(i, at), naive_posterior(as_edge_hmm(hmm), symbols, t, i), 1e-12);
        EXPECT_NEAR(of_edge.states(i, at), naive_posterior(edge, symbols, t, i), 1e-12);
      }
    }
  }
}

TEST(StatePosteriors, LongSequencesDoNotUnderflow) {
  RandomStream random(82, Purpose::kTest);
  const Hmm hmm = random_started_hmm(3, 4, random);
  const auto symbols = random_symbols(30000, 4, random, 0.1);
  const StatePosteriors found = posteriors(hmm, symbols);
  EXPECT_LT(found.log_likelihood, -20000.0);  // e^−20000 is not a double
  for (Index t = 0; t < found.states.cols(); ++t)
    ASSERT_NEAR(found.states.col(t).sum(), 1.0, 1e-12);
  EXPECT_GE(found.states.minCoeff(), 0.0);
  EXPECT_LE(norm_distance(posteriors(as_edge_hmm(hmm), symbols).states, found.states), 1e-9);
}

TEST(StatePosteriors, AnImpossibleSymbolSaysNothing) {
  RandomStream random(83, Purpose::kTest);
  Hmm hmm = random_started_hmm(3, 2, random);
  hmm.emission.row(0).setOnes();
  hmm.emission.row(1).setZero();
  const StatePosteriors found = posteriors(hmm, {0, 1, 0});
  EXPECT_TRUE(std::isinf(found.log_likelihood));
  const RealMatrix expected = posteriors(hmm, {0, kMissing, 0}).states;
  EXPECT_LE(norm_distance(found.states, expected), 1e-14);
  EXPECT_LE(norm_distance(posteriors(as_edge_hmm(hmm), {0, 1, 0}).states, expected), 1e-14);
}

/// The weight of symbols t+1 … of a sequence from X on, by products of unnormalised maps.
Wide weight_after(const Hqmm& model, const std::vector<Symbol>& symbols, std::size_t t,
                  WideMatrix x) {
  const auto sets = naive_sets(model.positions, symbols.size());
  for (std::size_t k = t + 1; k < symbols.size(); ++k) {
    const KrausSet& set = model.sets[sets[k]];
    x = symbols[k] == kMissing ? total_map(set, x) : symbol_map(set, symbols[k], x);
  }
  Wide sum = 0.0L;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i][i];
  return sum;
}

/// ρ_t and E_t: tr(E X) is the weight of the future from X on, for X = |i⟩⟨j| one by one.
void expect_naive_pairs(const Hqmm& whole, const std::vector<Symbol>& symbols) {
  const std::vector<PastQuantumState> found = pairs_of(whole, symbols);
  const Hqmm model = expanded(whole);
  const auto sets = naive_sets(model.positions, symbols.size());
  const Index n = model.latent_dim();
  WideMatrix rho = widen(model.initial_state);
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    const KrausSet& set = model.sets[sets[t]];
    rho = symbols[t] == kMissing ? total_map(set, rho) : symbol_map(set, symbols[t], rho);
    const long double trace_of_rho = trace(rho);
    const long double weight = weight_after(model, symbols, t, rho).real() / trace_of_rho;
    Matrix state(n, n), effect(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
        state(i, j) = Complex(rho[a][b] / trace_of_rho);
        WideMatrix unit(static_cast<std::size_t>(n),
                        std::vector<Wide>(static_cast<std::size_t>(n)));
        unit[a][b] = 1.0L;
        effect(j, i) = Complex(weight_after(model, symbols, t, unit) / weight);
      }
    }
    EXPECT_LE(norm_distance(found[t].state, state), 1e-11) << "at " << t;
    EXPECT_LE(norm_distance(found[t].effect, effect), 1e-10 * (1.0 + effect.norm())) << "at " << t;
  }
}

TEST(Retrodiction, PairsAreTheProductsOfPastAndFuture) {
  for (std::uint64_t k = 0; k < 24; ++k) {
    RandomStream random(84, Purpose::kTest, k);
    const Shape plain{1 + static_cast<Index>(random.below(3)), 3, 2};
    const Shape shape = of_every_kind(plain)[k % 4];
    const Hqmm model = k % 3 == 0 ? random_hqmm(shape, random)
                       : k % 3 == 1
                           ? random_positional_hqmm(shape, PositionMap::Anchor::kStart, random)
                           : random_positional_hqmm(shape, PositionMap::Anchor::kEnd, random);
    expect_naive_pairs(model, random_symbols(1 + random.below(8), 3, random, 0.2));
  }
}

TEST(Retrodiction, SmoothedStatesAreStates) {
  RandomStream random(85, Purpose::kTest);
  const Hqmm model = random_hqmm({4, 3, 2}, random);
  const auto pairs = pairs_of(model, random_symbols(3000, 3, random, 0.1));
  for (const PastQuantumState& pair : pairs) {
    ASSERT_NEAR(pair.effect.cwiseProduct(pair.state.transpose()).sum().real(), 1.0, 1e-12);
    const Matrix smoothed = smoothed_state(pair);
    ASSERT_NEAR(smoothed.trace().real(), 1.0, 1e-12);
    ASSERT_EQ(Matrix(smoothed.adjoint()), smoothed);
    ASSERT_GE(least_eigenvalue(smoothed), -1e-12);
  }
  // nothing comes after the last symbol
  EXPECT_LE(norm_distance(smoothed_state(pairs.back()), pairs.back().state), 1e-13);
}

/// Posteriors on the diagonal; `diagonal`: and nothing beside it.
void expect_posteriors(const Hqmm& embedded, const RealMatrix& expected,
                       const std::vector<Symbol>& symbols, bool diagonal) {
  const auto pairs = pairs_of(embedded, symbols);
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    const Matrix smoothed = smoothed_state(pairs[t]);
    const RealVector found = smoothed.diagonal().real();
    ASSERT_LE(norm_distance(found, RealVector(expected.col(static_cast<Index>(t)))), 1e-10);
    if (diagonal) {
      ASSERT_NEAR(smoothed.norm(), found.norm(), 1e-10);
    }
  }
}

TEST(Retrodiction, OfAnEmbeddedHmmIsItsPosteriors) {
  RandomStream random(86, Purpose::kTest);
  const Hmm hmm = random_started_hmm(3, 4, random);
  const EdgeHmm edge = random_started_edge_hmm(3, 4, random);
  const auto symbols = random_symbols(400, 4, random, 0.1);
  const RealMatrix expected = posteriors(hmm, symbols).states;
  for (const EmissionKind emission : {EmissionKind::kEdge, EmissionKind::kState}) {
    expect_posteriors(embed_rank_one(hmm, emission), expected, symbols, false);
    expect_posteriors(embed_cyclic(hmm, emission), expected, symbols, true);
  }
  expect_posteriors(embed_rank_one(edge), posteriors(edge, symbols).states, symbols, false);
  expect_posteriors(embed_cyclic(edge), posteriors(edge, symbols).states, symbols, true);
}

TEST(Retrodiction, NeedsAFeasibleModel) {
  RandomStream random(87, Purpose::kTest);
  Hqmm model = random_hqmm({2, 2, 1}, random);
  make_infeasible(model, random);
  expect_error(ErrorCode::kBadData, "not trace preserving", [&] { pairs_of(model, {0, 1}); });
}

}  // namespace
}  // namespace hqmm::detail::testing
