// The filters against their naive twins, and at the edges of what a double holds.
#include "hqmm/model/filter.hpp"

#include <fmt/core.h>

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

using Anchor = PositionMap::Anchor;

Matrix narrow(const WideMatrix& wide) {
  const auto n = static_cast<Index>(wide.size());
  Matrix out(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      out(i, j) =
          Complex(wide[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] / trace(wide));
    }
  }
  return out;
}

/// Every step's weights and the final state, to a relative 1e-12.
void expect_like_the_twin(const Hqmm& model, const std::vector<Symbol>& symbols) {
  const NaiveRun run = naive_run(model, symbols);
  HqmmFilter filter(model);
  filter.restart(symbols.size());
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    const StepWeight weight = filter.step(symbols[t]);
    const auto raw = static_cast<double>(run.raw[t]);
    const auto total = static_cast<double>(run.total[t]);
    ASSERT_NEAR(weight.raw, raw, 1e-12 * std::max(1.0, raw)) << "at " << t;
    ASSERT_NEAR(weight.total, total, 1e-12 * std::max(1.0, total)) << "at " << t;
  }
  EXPECT_LE(norm_distance(filter.state(), narrow(run.state)), 1e-11);
}

TEST(HqmmFilter, AgreesWithTheNaiveTwinOnRandomShapes) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    RandomStream random(11, Purpose::kTest, i);
    const Shape shape{1 + static_cast<Index>(random.below(6)),
                      1 + static_cast<Index>(random.below(5)),
                      1 + static_cast<Index>(random.below(3))};
    SCOPED_TRACE(fmt::format("case {}: n={} s={} w={}", i, shape.n, shape.s, shape.w));
    Hqmm model = i % 3 == 0   ? random_hqmm(shape, random)
                 : i % 3 == 1 ? random_positional_hqmm(shape, Anchor::kStart, random)
                              : random_positional_hqmm(shape, Anchor::kEnd, random);
    const auto symbols = random_symbols(1 + random.below(30), shape.s, random, 0.2);
    expect_like_the_twin(model, symbols);
    make_infeasible(model, random);
    expect_like_the_twin(model, symbols);
  }
}

TEST(HqmmFilter, AgreesWithTheNaiveTwinFromAPureState) {
  RandomStream random(12, Purpose::kTest);
  Hqmm model = random_hqmm({4, 3, 1}, random);
  model.initial_state = random_pure_state(4, random);
  expect_like_the_twin(model, random_symbols(300, 3, random));
}

TEST(HmmFilter, StepWeightsMultiplyToTheSumOverHiddenPaths) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    RandomStream random(13, Purpose::kTest, i);
    const Index s = 1 + static_cast<Index>(random.below(4));
    const Hmm hmm = random_started_hmm(1 + static_cast<Index>(random.below(3)), s, random);
    const auto symbols = random_symbols(7, s, random, 0.2);
    HmmFilter filter(hmm);
    double product = 1.0;
    for (const Symbol symbol : symbols) product *= filter.step(symbol).raw;
    EXPECT_NEAR(product, naive_probability(hmm, symbols), 1e-14);
  }
}

template <typename Model>
void expect_next_distribution_is_what_a_step_weighs(const Model& model, std::size_t s,
                                                    RandomStream& random) {
  auto filter = make_filter(model);
  filter.restart(10);
  std::vector<double> distribution(s);
  for (int t = 0; t < 10; ++t) {
    filter.next_distribution(distribution);
    double sum = 0.0;
    for (std::size_t y = 0; y < s; ++y) {
      auto branch = filter;
      const StepWeight weight = branch.step(static_cast<Symbol>(y));
      EXPECT_NEAR(distribution[y], weight.raw / weight.total, 1e-13);
      sum += distribution[y];
    }
    EXPECT_NEAR(sum, 1.0, 1e-14);
    filter.step(static_cast<Symbol>(random.below(s)));
  }
}

TEST(Filters, NextDistributionIsWhatAStepWeighs) {
  RandomStream random(14, Purpose::kTest);
  expect_next_distribution_is_what_a_step_weighs(random_hqmm({3, 4, 2}, random), 4, random);
  expect_next_distribution_is_what_a_step_weighs(
      random_positional_hqmm({2, 3, 2}, Anchor::kEnd, random), 3, random);
  Hqmm infeasible = random_hqmm({3, 4, 2}, random);
  make_infeasible(infeasible, random);
  expect_next_distribution_is_what_a_step_weighs(infeasible, 4, random);
  expect_next_distribution_is_what_a_step_weighs(random_started_hmm(4, 5, random), 5, random);
}

/// The k-step prediction after a prefix must be Σ over the symbols in between of P(prefix, …,
/// y)/P(prefix).
template <typename Model>
void expect_predictions_are_marginals(const Model& model, const std::vector<Symbol>& prefix,
                                      std::size_t s) {
  for (std::size_t steps = 1; steps <= 3; ++steps) {
    const std::size_t length = prefix.size() + steps;
    auto filter = make_filter(model);
    filter.restart(length);
    for (const Symbol symbol : prefix) filter.step(symbol);
    std::vector<double> found(s);
    predict_ahead(filter, steps, found);
    std::vector<Symbol> whole = prefix;
    whole.resize(length, kMissing);
    const auto joint = [&](const std::vector<Symbol>& filled) {
      return naive_probability(model, filled);
    };
    const double past = sum_over_missing(whole, s, joint);
    for (std::size_t y = 0; y < s; ++y) {
      whole.back() = static_cast<Symbol>(y);
      EXPECT_NEAR(found[y], sum_over_missing(whole, s, joint) / past, 1e-12) << steps << " steps";
    }
  }
}

TEST(Filters, PredictionsAheadAreMarginalsOverTheSymbolsBetween) {
  RandomStream random(15, Purpose::kTest);
  const std::vector<Symbol> prefix{0, 2, 1, kMissing, 2};
  expect_predictions_are_marginals(random_hqmm({3, 3, 2}, random), prefix, 3);
  expect_predictions_are_marginals(random_positional_hqmm({2, 3, 1}, Anchor::kStart, random),
                                   prefix, 3);
  expect_predictions_are_marginals(random_positional_hqmm({2, 3, 1}, Anchor::kEnd, random), prefix,
                                   3);
  expect_predictions_are_marginals(random_started_hmm(3, 3, random), prefix, 3);
}

TEST(HqmmFilter, RestartForgetsTheSequenceBefore) {
  RandomStream random(16, Purpose::kTest);
  const Hqmm model = random_positional_hqmm({3, 3, 2}, Anchor::kEnd, random);
  HqmmFilter filter(model);
  filter.restart(6);
  const double first = filter.step(1).raw;
  for (int t = 0; t < 5; ++t) filter.step(2);
  filter.restart(6);
  EXPECT_EQ(filter.step(1).raw, first);
}

TEST(HqmmFilter, AModelAnchoredAtTheEndNeedsTheLength) {
  RandomStream random(17, Purpose::kTest);
  const Hqmm model = random_positional_hqmm({2, 2, 1}, Anchor::kEnd, random);
  HqmmFilter filter(model);
  EXPECT_THROW(filter.restart(), Error);
  EXPECT_NO_THROW(filter.restart(4));
}

TEST(HqmmFilter, SaysSoWhenNoSymbolHasAnyWeight) {
  const Hqmm model = stationary_hqmm(Alphabet::integers(2), KrausSet(2, 1, 2), maximally_mixed(2));
  HqmmFilter filter(model);
  std::vector<double> distribution(2);
  for (const Symbol symbol : {Symbol{0}, kMissing}) {
    try {
      filter.restart();
      filter.step(symbol);
      FAIL() << "expected an error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadData);
      EXPECT_NE(error.message().find("annihilate"), std::string::npos) << error.message();
    }
  }
  EXPECT_THROW(filter.next_distribution(distribution), Error);
}

TEST(HqmmFilter, SaysSoWhenTheStateOverflows) {
  Hqmm model = stationary_hqmm(Alphabet::integers(1), KrausSet(1, 1, 1), maximally_mixed(1));
  model.sets[0].gamma()(0, 0) = 1e200;
  HqmmFilter filter(model);
  EXPECT_THROW(filter.step(0), Error);
}

// Stern–Gerlach: after "+z" the outcome "−z" cannot follow.
TEST(HqmmFilter, AnImpossibleSymbolWeighsZeroAndLeavesTheStateUnseen) {
  const Hqmm model = synthetic_hqmm();
  HqmmFilter filter(model);
  filter.step(0);
  EXPECT_EQ(filter.step(1).raw, 0.0);
  HqmmFilter unseen(model);
  unseen.step(0);
  unseen.skip();
  EXPECT_LE(norm_distance(filter.state(), unseen.state()), 1e-15);
  EXPECT_NEAR(filter.step(2).raw, unseen.step(2).raw, 1e-15);
}

TEST(HmmFilter, AnImpossibleSymbolWeighsZeroAndLeavesTheStateUnseen) {
  Hmm hmm = synthetic_hmm();
  hmm.emission.row(1) += hmm.emission.row(5);
  hmm.emission.row(5).setZero();
  HmmFilter filter(hmm);
  HmmFilter unseen(hmm);
  EXPECT_EQ(filter.step(5).raw, 0.0);
  unseen.skip();
  EXPECT_LE(norm_distance(filter.state(), unseen.state()), 1e-15);
  EXPECT_NEAR(filter.state().sum(), 1.0, 1e-15);
}

// Two measurements in random bases, each a projector P of rank one and I − P. After P, the outcome
// I − P has probability zero, and what the operators leave of the state is rounding: it may be
// counted as impossible or as next to it, but must never become a "state" that gives probabilities
// above one.
TEST(HqmmFilter, RoundingNeverTurnsIntoAState) {
  const double half = std::sqrt(0.5);
  for (std::uint64_t i = 0; i < 500; ++i) {
    RandomStream random(18, Purpose::kTest, i);
    KrausSet set(4, 1, 3);
    for (const Index basis : {0, 2}) {
      const Matrix pure = random_pure_state(3, random);
      set.op(basis, 0) = half * pure;
      set.op(basis + 1, 0) = half * (Matrix::Identity(3, 3) - pure);
    }
    const Hqmm model =
        stationary_hqmm(Alphabet::integers(4), std::move(set), random_density_matrix(3, random));
    HqmmFilter filter(model);
    filter.step(0);
    EXPECT_LE(filter.step(1).raw, 1e-15);
    EXPECT_GE(least_eigenvalue(filter.state()), -0.01);
    EXPECT_LE(filter.step(2).raw, 0.5 + 0.01);
  }
}

TEST(HqmmFilter, ASymbolOfProbability1e300Works) {
  KrausSet set(2, 1, 2);
  set.op(0, 0) = Matrix::Identity(2, 2);
  set.op(1, 0) << 1e-150, 0.0, 0.0, 2e-150;
  const Hqmm model = stationary_hqmm(Alphabet::integers(2), std::move(set), maximally_mixed(2));
  HqmmFilter filter(model);
  EXPECT_NEAR(filter.step(1).raw / 2.5e-300, 1.0, 1e-12);
  EXPECT_NEAR(filter.state()(0, 0).real(), 0.2, 1e-12);
  EXPECT_NEAR(filter.step(0).raw, 1.0, 1e-12);
}

TEST(HmmFilter, ASymbolOfProbability1e300Works) {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(2);
  hmm.transition = RealMatrix::Identity(2, 2);
  hmm.emission.resize(2, 2);
  hmm.emission << 1.0, 1.0, 1e-300, 4e-300;
  hmm.initial = RealVector::Constant(2, 0.5);
  HmmFilter filter(hmm);
  EXPECT_NEAR(filter.step(1).raw / 2.5e-300, 1.0, 1e-12);
  EXPECT_NEAR(filter.state()(0), 0.2, 1e-12);
}

TEST(HqmmFilter, TwentyThousandSymbolsNeitherUnderflowNorDrift) {
  for (const Index w : {1, 2}) {
    RandomStream random(19, Purpose::kTest, static_cast<std::uint64_t>(w));
    Hqmm model = random_hqmm({3, 4, w}, random);
    model.initial_state = random_pure_state(3, random);
    const auto symbols = random_symbols(20000, 4, random);
    HqmmFilter filter(model);
    WideMatrix state = widen(model.initial_state);
    double log_likelihood = 0.0;
    long double expected = 0.0L;
    for (const Symbol symbol : symbols) {
      log_likelihood += std::log(filter.step(symbol).raw);
      state = symbol_map(model.sets[0], symbol, state);
      const long double weight = trace(state);
      expected += std::log(weight);
      for (auto& row : state) {
        for (Wide& entry : row) entry /= weight;
      }
    }
    EXPECT_LT(log_likelihood, -20000.0);
    EXPECT_NEAR(log_likelihood, static_cast<double>(expected), 1e-12 * std::abs(log_likelihood));
    EXPECT_LE(norm_distance(filter.state(), narrow(state)), 1e-9);
  }
}

/// Symbol 1 has probability 1e-320, below what doubles hold in full, and leaves the state alone.
TEST(HqmmFilter, KeepsTheStateOverASymbolNearTheLeastDouble) {
  RandomStream random(91, Purpose::kTest);
  KrausSet set(2, 1, 2);
  set.op(0, 0) = Matrix::Identity(2, 2);
  set.op(1, 0) = 1e-160 * Matrix::Identity(2, 2);
  const Matrix start = random_density_matrix(2, random);
  const Hqmm model = stationary_hqmm(Alphabet::integers(2), set, start);
  HqmmFilter filter(model);
  std::vector<double> next(2);
  for (const Symbol symbol : {1, 1, 0, 1}) {
    const double weight = filter.step(symbol).raw;
    EXPECT_NEAR(std::log(weight), symbol == 1 ? std::log(1e-320) : 0.0, 1e-12);
    EXPECT_LE((filter.state() - start).norm(), 1e-15);
    filter.next_distribution(next);
    EXPECT_NEAR(next[0], 1.0, 1e-15);
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
