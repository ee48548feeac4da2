// The gradient of a batch against an independent implementation, against finite differences of the
// definition, and against itself: sums, threads, failures.
#include "hqmm/engine/quantum/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/engine.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::inner;
using testing::norm_distance;
using testing::random_direction;
using testing::set_of;
using testing::Shape;
using testing::views;

constexpr std::uint64_t kGradientSeed = 31;

/// The loss by its definition: −Σ log of the raw weights that count.
long double naive_loss(const Hqmm& model, const SequenceSet& set, std::size_t burn_in) {
  long double loss = 0.0L;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<Symbol> symbols = set[i].to_vector();
    const testing::NaiveRun run = testing::naive_run(model, symbols);
    for (std::size_t t = burn_in; t < symbols.size(); ++t) loss -= std::log(run.raw[t]);
  }
  return loss;
}

/// Central difference of f along a direction, f in long double.
template <typename Function>
double slope(Function f) {
  constexpr double kStep = 1e-5;
  return static_cast<double>((f(kStep) - f(-kStep)) / (2.0L * kStep));
}

/// Every set along a random direction, and the initial state along a random Hermitian one of
/// trace zero: states have trace one.
void expect_slopes(const Hqmm& model, const SequenceSet& set, std::size_t burn_in,
                   RandomStream& random) {
  const BatchGradient found = gradient(model, views(set), {burn_in, true, true}, 1);
  EXPECT_NEAR(-found.raw_log_likelihood, static_cast<double>(naive_loss(model, set, burn_in)),
              1e-10);
  for (std::size_t k = 0; k < model.sets.size(); ++k) {
    const Stack& gamma = model.sets[k].gamma();
    const Stack direction = random_direction(gamma.rows(), gamma.cols(), random);
    const double expected = slope([&](double h) {
      Hqmm moved = model;
      moved.sets[k].gamma() += h * direction;
      return naive_loss(moved, set, burn_in);
    });
    EXPECT_NEAR(inner(found.sets[k], direction), expected, 1e-7 * (1.0 + std::abs(expected)))
        << "set " << k;
  }
  const Index n = model.latent_dim();
  const Stack any = random_direction(n, n, random);
  Matrix hermitian = any + any.adjoint();
  hermitian.diagonal().array() -= hermitian.trace() / static_cast<double>(n);
  const double expected = slope([&](double h) {
    Hqmm moved = model;
    moved.initial_state += h * hermitian;
    return naive_loss(moved, set, burn_in);
  });
  EXPECT_LT(norm_distance(found.initial_state, Matrix(found.initial_state.adjoint())), 1e-12);
  EXPECT_NEAR(inner(found.initial_state, hermitian), expected, 1e-7 * (1.0 + std::abs(expected)));
}

/// Ragged: an empty sequence, one shorter than the burn-in, one longer than every position map.
SequenceSet ragged_set(Index s, RandomStream& random, double missing_share) {
  std::vector<std::vector<Symbol>> sequences;
  for (const std::size_t length : {0, 1, 3, 7})
    sequences.push_back(testing::random_symbols(length, s, random, missing_share));
  return set_of(s, sequences);
}

std::vector<Shape> gradient_shapes() {
  std::vector<Shape> out;
  for (Index n = 1; n <= 4; ++n) {
    for (Index s = 2; s <= 4; ++s) {
      for (Index w = 1; w <= 3; ++w) out.push_back({n, s, w});
    }
  }
  return out;
}

std::string name_of_shape(const Shape& shape) {
  return "n=" + std::to_string(shape.n) + " s=" + std::to_string(shape.s) +
         " w=" + std::to_string(shape.w);
}

TEST(Gradient, MatchesTheGoldenCases) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  for (const testing::GoldenCase& item : testing::load_golden_cases(path)) {
    SCOPED_TRACE(item.name());
    const SequenceSet set = set_of(item.model.alphabet_size(), {item.symbols});
    const BatchGradient stopped = gradient(item.model, views(set), {item.burn_in, false, false}, 1);
    const BatchGradient through = gradient(item.model, views(set), {item.burn_in, true, false}, 1);
    EXPECT_EQ(stopped.scored, item.symbols.size() - item.burn_in);
    EXPECT_NEAR(stopped.log_likelihood, item.log_likelihood, 1e-10);
    EXPECT_LT(norm_distance(stopped.sets[0], item.gradient), 1e-10);
    EXPECT_LT(norm_distance(through.sets[0], item.gradient_through_burn_in), 1e-10);
    EXPECT_EQ(stopped.initial_state.size(), 0);
  }
}

TEST(Gradient, MatchesFiniteDifferences) {
  std::uint64_t index = 0;
  for (const Shape& shape : gradient_shapes()) {
    SCOPED_TRACE(name_of_shape(shape));
    RandomStream random(kGradientSeed, Purpose::kTest, ++index);
    const Hqmm model = testing::random_hqmm(shape, random);
    expect_slopes(model, ragged_set(shape.s, random, 0.2), index % 4, random);
  }
}

TEST(Gradient, MatchesFiniteDifferencesWithASetPerPosition) {
  std::uint64_t index = 100;
  for (const Shape& shape : {Shape{1, 3, 2}, Shape{2, 2, 1}, Shape{3, 2, 2}, Shape{4, 3, 1}}) {
    for (const auto anchor : {PositionMap::Anchor::kStart, PositionMap::Anchor::kEnd}) {
      SCOPED_TRACE(name_of_shape(shape));
      RandomStream random(kGradientSeed, Purpose::kTest, ++index);
      const Hqmm model = testing::random_positional_hqmm(shape, anchor, random);
      expect_slopes(model, ragged_set(shape.s, random, 0.2), index % 3, random);
    }
  }
}

TEST(Gradient, IsOfTheRawLossWhenTheModelIsInfeasible) {
  std::uint64_t index = 200;
  for (const Shape& shape : {Shape{1, 2, 1}, Shape{2, 3, 2}, Shape{3, 2, 1}}) {
    SCOPED_TRACE(name_of_shape(shape));
    RandomStream random(kGradientSeed, Purpose::kTest, ++index);
    Hqmm model = testing::random_positional_hqmm(shape, PositionMap::Anchor::kStart, random);
    testing::make_infeasible(model, random);
    const SequenceSet set = ragged_set(shape.s, random, 0.2);
    expect_slopes(model, set, 1, random);

    long double normalised = 0.0L;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const testing::NaiveRun run = testing::naive_run(model, set[i].to_vector());
      for (std::size_t t = 1; t < run.raw.size(); ++t)
        normalised += std::log(run.raw[t] / run.total[t]);
    }
    const BatchGradient found = gradient(model, views(set), {1, true, false}, 1);
    EXPECT_NEAR(found.log_likelihood, static_cast<double>(normalised), 1e-10);
  }
}

// Stopped at the burn-in, the state after it is a constant: the gradient is that of the rest of
// the sequence from this state on.
TEST(Gradient, StoppedAtTheBurnInIsTheGradientOfTheRestAlone) {
  RandomStream random(kGradientSeed, Purpose::kTest, 300);
  const Hqmm model = testing::random_hqmm({3, 3, 2}, random);
  const std::vector<Symbol> symbols = testing::random_symbols(12, 3, random, 0.2);
  const SequenceSet whole = set_of(3, {symbols});
  const SequenceSet rest = set_of(3, {{symbols.begin() + 5, symbols.end()}});
  const testing::NaiveRun start =
      testing::naive_run(model, std::vector<Symbol>(symbols.begin(), symbols.begin() + 5));
  Hqmm later = model;
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      later.initial_state(i, j) = static_cast<Complex>(
          start.state[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] /
          testing::trace(start.state));
    }
  }
  const BatchGradient stopped = gradient(model, views(whole), {5, false, true}, 1);
  const BatchGradient alone = gradient(later, views(rest), {0, true, false}, 1);
  EXPECT_NEAR(stopped.log_likelihood, alone.log_likelihood, 1e-12);
  EXPECT_LT(norm_distance(stopped.sets[0], alone.sets[0]), 1e-11);
  EXPECT_EQ(stopped.initial_state.norm(), 0.0) << "nothing of the loss reaches the initial state";
}

TEST(Gradient, OfABatchIsTheSumOverItsSequences) {
  RandomStream random(kGradientSeed, Purpose::kTest, 301);
  const Hqmm model = testing::random_positional_hqmm({3, 4, 2}, PositionMap::Anchor::kEnd, random);
  const SequenceSet set = ragged_set(4, random, 0.1);
  const GradientOptions options{1, true, true};
  const BatchGradient batch = gradient(model, views(set), options, 1);
  BatchGradient sum;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const SequenceView one = set[i];
    sum += gradient(model, {&one, 1}, options, 1);
  }
  EXPECT_EQ(batch.scored, sum.scored);
  EXPECT_NEAR(batch.log_likelihood, sum.log_likelihood, 1e-12);
  EXPECT_NEAR(batch.raw_log_likelihood, sum.raw_log_likelihood, 1e-12);
  for (std::size_t k = 0; k < sum.sets.size(); ++k)
    EXPECT_LT(norm_distance(batch.sets[k], sum.sets[k]), 1e-12);
  EXPECT_LT(norm_distance(batch.initial_state, sum.initial_state), 1e-12);
}

TEST(Gradient, HasTheSameBytesAtAnyThreadCount) {
  RandomStream random(kGradientSeed, Purpose::kTest, 302);
  const Hqmm model = testing::random_hqmm({4, 3, 2}, random);
  std::vector<std::vector<Symbol>> sequences;
  for (std::size_t i = 0; i < 13; ++i)
    sequences.push_back(testing::random_symbols(10 + 7 * i, 3, random));
  const SequenceSet set = set_of(3, sequences);
  const BatchGradient one = gradient(model, views(set), {3, true, true}, 1);
  const BatchGradient two = gradient(model, views(set), {3, true, true}, 2);
  EXPECT_EQ(one.log_likelihood, two.log_likelihood);
  EXPECT_TRUE(one.sets[0] == two.sets[0]);
  EXPECT_TRUE(one.initial_state == two.initial_state);
}

/// K[0] = I and nothing else: symbol 1 cannot be.
Hqmm only_symbol_zero(double amplitude_of_one) {
  KrausSet set(2, 1, 2);
  set.op(0, 0).setIdentity();
  set.op(1, 0) = amplitude_of_one * Matrix::Identity(2, 2);
  return stationary_hqmm(Alphabet::integers(2), std::move(set), maximally_mixed(2));
}

void expect_not_finite(const Hqmm& model, const SequenceSet& set, std::size_t sequence,
                       std::size_t position, int threads) {
  try {
    const BatchGradient ignored = gradient(model, views(set), {2, true, false}, threads);
    ADD_FAILURE() << "a gradient of norm " << ignored.sets[0].norm();
  } catch (const NotFiniteError& error) {
    EXPECT_EQ(error.place().sequence, sequence);
    EXPECT_EQ(error.place().position, position);
  }
}

TEST(Gradient, NamesTheFirstSymbolOfProbabilityZero) {
  const SequenceSet set = set_of(2, {{0, 0, 0}, {0, kMissing, 0}, {0, 0, 0, 1, 0}, {1}, {0, 1}});
  for (const int threads : {1, 2}) expect_not_finite(only_symbol_zero(0.0), set, 2, 3, threads);
}

TEST(Gradient, NamesASymbolOfAProbabilityTooSmallToDivideBy) {
  const SequenceSet set = set_of(2, {{0, 0, 0}, {0, 0, 0, 0, 1, 0}});
  expect_not_finite(only_symbol_zero(1e-160), set, 1, 4, 1);
}

TEST(Gradient, OfNothingScoredIsZero) {
  RandomStream random(kGradientSeed, Purpose::kTest, 303);
  const Hqmm model = testing::random_hqmm({2, 3, 2}, random);
  const SequenceSet set = set_of(3, {{}, {1, 2}, {kMissing, kMissing, kMissing, kMissing}});
  const BatchGradient found = gradient(model, views(set), {2, true, true}, 1);
  EXPECT_EQ(found.scored, 0U);
  EXPECT_EQ(found.log_likelihood, 0.0);
  EXPECT_LT(found.sets[0].norm(), 1e-15);
  EXPECT_LT(found.initial_state.norm(), 1e-15);
}

}  // namespace
}  // namespace hqmm::detail
