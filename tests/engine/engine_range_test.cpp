// Probabilities at the ends of what a double holds: tiny ones are worked through as the naive
// engine does, and what cannot be worked with names its sequence and symbol, whatever the engine.
#include <limits>

#include "support/engine.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kEngineRangeSeed = 815;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A feasible model whose last symbol has the probability amplitude²·tr(G†G ρ), G of norm about
/// one.
Hqmm model_with_a_rare_symbol(const Shape& shape, double amplitude, RandomStream& random) {
  const KrausSet usual = random_kraus(shape.s - 1, shape.w, shape.n, random);
  const KrausSet rare = random_kraus(1, shape.w, shape.n, random);
  KrausSet set(shape.s, shape.w, shape.n);
  set.gamma().topRows(usual.gamma().rows()) = usual.gamma();
  set.gamma().bottomRows(rare.gamma().rows()) = amplitude * rare.gamma();
  return stationary_hqmm(Alphabet::integers(static_cast<std::size_t>(shape.s)), std::move(set),
                         random_density_matrix(shape.n, random));
}

/// Every symbol's part of the gradient to its own size: that of a rare symbol is larger by the
/// inverse of its amplitude.
void expect_every_symbol_as_naive(const Batch& batch) {
  const Index rows = batch.model.kraus_rank() * batch.model.latent_dim();
  testing::check_every_engine(
      batch, [&](const BatchGradient& found, const BatchGradient& expected) {
        testing::expect_same_scores(found, expected);
        for (Index y = 0; y < batch.model.alphabet_size(); ++y) {
          const double amplitude = testing::largest_entry(batch.model.sets[0].ops(y));
          testing::expect_close(found.sets[0].middleRows(y * rows, rows),
                                expected.sets[0].middleRows(y * rows, rows), 1.0 / amplitude,
                                "gradient of a symbol");
        }
        testing::expect_same_initial_state(batch, found, expected, 1.0);
      });
}

TEST(EngineRange, ASymbolThatIsHardlyEverSeenIsWorkedThrough) {
  std::uint64_t index = 0;
  for (const Shape& shape : {Shape{1, 2, 1}, Shape{2, 3, 1}, Shape{2, 3, 3}, Shape{4, 3, 1},
                             Shape{4, 3, 4}, Shape{9, 3, 1}, Shape{6, 4, 2}}) {
    for (const double amplitude : {1e-5, 1e-10, 1e-20, 1e-50, 1e-100, 1e-140, 1e-150}) {
      RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = model_with_a_rare_symbol(shape, amplitude, random);
      ASSERT_TRUE(is_feasible(batch.model));
      batch.options = {2, true, true};
      const auto rare = static_cast<Symbol>(shape.s - 1);
      for (const std::size_t in_a_row : {1, 2, 9, 40}) {
        auto sequences = testing::random_sequences({40, 60, 60, 60}, shape.s - 1, random);
        for (std::size_t i = 0; i < in_a_row; ++i) sequences[2][10 + i] = rare;
        for (std::size_t i = 0; i < in_a_row; ++i) sequences[3][(5 + 7 * i) % 60] = rare;
        batch.set = testing::set_of(shape.s, sequences);
        SCOPED_TRACE(fmt::format("n={} s={} w={} amplitude {}, {} of them", shape.n, shape.s,
                                 shape.w, amplitude, in_a_row));
        expect_every_symbol_as_naive(batch);
      }
    }
  }
}

TEST(EngineRange, RareSymbolsInTheBurnInAndAtBothEnds) {
  std::uint64_t index = 1000;
  for (const Index w : {1, 2}) {
    for (const bool through : {true, false}) {
      RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = model_with_a_rare_symbol({3, 3, w}, 1e-149, random);
      batch.options = {20, through, through};
      auto sequences = testing::random_sequences({40, 40, 40}, 2, random);
      sequences[0][3] = sequences[0][19] = 2;
      sequences[1][0] = sequences[1][20] = 2;
      sequences[2][39] = 2;
      batch.set = testing::set_of(3, sequences);
      testing::expect_every_engine_as_naive(batch);
    }
  }
}

/// Infeasible operators of all sizes: a state that shrinks below what a double holds and grows
/// back in between must not come back as something else.
TEST(EngineRange, StatesThatShrinkAndGrowBackAreNotLost) {
  std::uint64_t index = 2000;
  for (const Shape& shape : {Shape{2, 2, 1}, Shape{2, 2, 2}, Shape{4, 2, 1}, Shape{5, 2, 3}}) {
    RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    const Index rows = shape.w * shape.n;
    for (const double amplitude : {1e-40, 1e-79, 1e40, 1e79}) {
      Hqmm& model = batch.model;
      model = testing::random_hqmm(shape, random);
      model.sets[0].gamma().topRows(rows) *= amplitude;
      model.sets[0].gamma().bottomRows(rows) /= amplitude;
      batch.options = {0, true, true};
      batch.set = testing::set_of(2, {{0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1},
                                      {0, 0, 0, 0, 1, 1, 1, 1, 0, 1},
                                      {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}});
      SCOPED_TRACE(fmt::format("n={} w={} amplitude {}", shape.n, shape.w, amplitude));
      expect_every_symbol_as_naive(batch);
    }
  }
}

// What cannot be worked with.

void expect_not_finite_as_naive(const Batch& batch) {
  NotFinite expected;
  try {
    static_cast<void>(batch.gradient_by(EngineKind::kNaive));
    FAIL() << "the naive engine finds nothing wrong";
  } catch (const NotFiniteError& error) {
    expected = error.place();
  }
  for (const EngineKind engine : testing::engines_for(batch)) {
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(fmt::format("{}, {} threads", name_of(engine), threads));
      try {
        const BatchGradient found = batch.gradient_by(engine, threads);
        ADD_FAILURE() << "a gradient of " << found.sets.size() << " sets";
      } catch (const NotFiniteError& error) {
        EXPECT_EQ(error.place().sequence, expected.sequence);
        EXPECT_EQ(error.place().position, expected.position);
      }
    }
  }
}

TEST(EngineRange, ASymbolOfProbabilityZeroIsNamed) {
  std::uint64_t index = 3000;
  for (const Shape& shape :
       {Shape{1, 2, 1}, Shape{2, 3, 1}, Shape{2, 3, 2}, Shape{5, 3, 1}, Shape{4, 3, 3}}) {
    RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
    Batch batch;
    batch.model = model_with_a_rare_symbol(shape, 0.0, random);
    const auto never = static_cast<Symbol>(shape.s - 1);
    for (const std::size_t position : {0, 15, 16, 49}) {
      const std::vector<std::size_t> lengths(50, 50);
      auto sequences = testing::random_sequences(lengths, shape.s - 1, random);
      sequences[40][position] = never;
      batch.options = {position % 2 * 30, true, true};
      SCOPED_TRACE(fmt::format("n={} w={} position {}", shape.n, shape.w, position));
      batch.set = testing::set_of(shape.s, sequences);
      expect_not_finite_as_naive(batch);
      // the first of several, though another one fails at an earlier symbol
      sequences[43][0] = sequences[41][position / 2] = never;
      batch.set = testing::set_of(shape.s, sequences);
      expect_not_finite_as_naive(batch);
    }
  }
}

/// States that cannot give a symbol they could have given before: projections.
TEST(EngineRange, AnImpossibleTurnIsNamed) {
  KrausSet set(2, 1, 2);
  set.op(0, 0)(0, 0) = 1.0;
  set.op(1, 0)(1, 1) = 1.0;
  Batch batch;
  batch.model = stationary_hqmm(Alphabet::integers(2), set, maximally_mixed(2));
  std::vector<Symbol> turns(40, 0);
  turns[23] = 1;
  batch.set = testing::set_of(2, {std::vector<Symbol>(30, 0), std::vector<Symbol>(30, 1), turns});
  expect_not_finite_as_naive(batch);
  batch.model.initial_state = Matrix::Zero(2, 2);
  batch.model.initial_state(0, 0) = 1.0;  // and from the start, of a pure state
  expect_not_finite_as_naive(batch);
}

TEST(EngineRange, AProbabilityTooSmallToDivideByIsNamed) {
  std::uint64_t index = 4000;
  for (const Shape& shape : {Shape{2, 2, 1}, Shape{2, 3, 2}, Shape{5, 3, 1}, Shape{5, 3, 2}}) {
    for (const std::size_t position : {0, 4, 29, 59}) {
      RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = model_with_a_rare_symbol(shape, 1e-160, random);
      auto sequences = testing::random_sequences({60, 60, 60}, shape.s - 1, random);
      sequences[1][position] = static_cast<Symbol>(shape.s - 1);
      batch.set = testing::set_of(shape.s, sequences);
      SCOPED_TRACE(fmt::format("n={} w={} position {}", shape.n, shape.w, position));
      expect_not_finite_as_naive(batch);
    }
  }
}

TEST(EngineRange, ModelsThatAreNoNumbersAreNamedWhereTheyAreMet) {
  std::uint64_t index = 5000;
  for (const Index w : {1, 2}) {
    for (const Index n : {2, 4}) {
      for (const double bad : {kNan, std::numeric_limits<double>::infinity()}) {
        SCOPED_TRACE(fmt::format("n={} w={} {}", n, w, bad));
        RandomStream random(kEngineRangeSeed, Purpose::kTest, ++index);
        Batch batch;
        batch.model = testing::random_hqmm({n, 3, w}, random);
        auto sequences = testing::random_sequences({20, 20, 20}, 2, random);
        sequences[1][7] = sequences[1][9] = 2;
        batch.set = testing::set_of(3, sequences);
        batch.model.sets[0].op(2, w - 1)(0, 1) = bad;
        expect_not_finite_as_naive(batch);
        batch.model.sets[0].gamma().setConstant(bad);
        expect_not_finite_as_naive(batch);
        batch.model.initial_state.setConstant(bad);
        expect_not_finite_as_naive(batch);
        batch.model = testing::random_hqmm({n, 3, w}, random);
        batch.model.initial_state(0, 0) = bad;
        expect_not_finite_as_naive(batch);
        testing::make_infeasible(batch.model, random);
        expect_not_finite_as_naive(batch);
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
