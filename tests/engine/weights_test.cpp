// Sequences that count more, less, not at all or against the loss: every engine against the naive
// one, and that one against gradients of single sequences.
#include "hqmm/stiefel/tangent.hpp"
#include "support/engine.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kWeightsSeed = 1848;

/// Of both signs, and some of them zero.
std::vector<double> random_weights(std::size_t count, RandomStream& random) {
  std::vector<double> out(count);
  for (double& weight : out) weight = random.uniform() < 0.2 ? 0.0 : random.normal();
  return out;
}

/// Weights live beside the batch whose options look at them.
struct WeightedBatch {
  Batch batch;
  std::vector<double> weights;

  void draw_weights(RandomStream& random) {
    weights = random_weights(batch.set.size(), random);
    batch.options.weights = weights;
  }
};

/// Stationary, or by position, anchored at either end.
Hqmm random_model(const Shape& shape, int kind, RandomStream& random) {
  if (kind % 2 == 0) return testing::random_hqmm(shape, random);
  const auto anchor = kind % 4 == 1 ? PositionMap::Anchor::kStart : PositionMap::Anchor::kEnd;
  return testing::random_positional_hqmm(shape, anchor, random);
}

TEST(Weights, EveryEngineAgreesWithTheNaiveOne) {
  std::uint64_t index = 0;
  for (const Shape& shape :
       {Shape{2, 3, 1}, Shape{2, 4, 2}, Shape{3, 2, 1}, Shape{4, 4, 2}, Shape{5, 3, 3},
        Shape{9, 3, 1}, Shape{5, 3, 2, Field::kReal, EmissionKind::kEdge},
        Shape{4, 9, 2, Field::kReal, EmissionKind::kState},
        Shape{5, 3, 2, Field::kComplex, EmissionKind::kState}}) {
    for (int kind = 0; kind < 24; ++kind) {
      RandomStream random(kWeightsSeed, Purpose::kTest, ++index);
      WeightedBatch it;
      Batch& batch = it.batch;
      batch.model = random_model(shape, kind, random);
      if (kind % 3 == 0)
        batch.model.initial_state = random_pure_state(shape.n, random, shape.field);
      if (kind % 8 == 6) testing::make_infeasible(batch.model, random);
      std::vector<std::size_t> lengths(37, 33);
      for (std::size_t i = 20; i < lengths.size(); ++i) lengths[i] = random.below(70);
      const double missing = kind % 6 >= 3 ? 0.4 : 0.0;
      batch.set =
          testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random, missing));
      batch.options.burn_in = kind % 5 == 4 ? 7 : 0;
      batch.options.through_burn_in = kind % 10 != 9;
      batch.options.want_initial_state = true;
      it.draw_weights(random);
      SCOPED_TRACE(fmt::format("n={} s={} w={} kind {}", shape.n, shape.s, shape.w, kind));
      testing::expect_every_engine_as_naive(batch);
      if (HasFailure()) return;
    }
  }
}

TEST(Weights, TheGradientIsTheWeightedSumOfThoseOfSingleSequences) {
  RandomStream random(kWeightsSeed, Purpose::kTest, 1000);
  WeightedBatch it;
  it.batch.model = testing::random_positional_hqmm({3, 3, 2}, PositionMap::Anchor::kEnd, random);
  it.batch.set = testing::set_of(3, testing::random_sequences({20, 0, 5, 33, 20}, 3, random, 0.3));
  it.batch.options.want_initial_state = true;
  it.draw_weights(random);
  const BatchGradient found = it.batch.gradient_by(EngineKind::kNaive);
  BatchGradient plain;
  std::vector<Stack> sets(found.sets.size(), Stack::Zero(18, 3));
  Matrix initial = Matrix::Zero(3, 3);
  GradientOptions one;
  one.want_initial_state = true;
  for (std::size_t i = 0; i < it.batch.set.size(); ++i) {
    const SequenceView view = it.batch.set[i];
    const BatchGradient single = gradient(it.batch.model, {&view, 1}, one, 1);
    for (std::size_t k = 0; k < sets.size(); ++k) sets[k] += it.weights[i] * single.sets[k];
    initial += it.weights[i] * single.initial_state;
    plain += single;
  }
  for (std::size_t k = 0; k < sets.size(); ++k)
    testing::expect_close(found.sets[k], sets[k], 1.0, "gradient of a set");
  testing::expect_close(found.initial_state, initial, 1.0, "initial state");
  testing::expect_same_scores(found, plain);  // likelihoods are not weighted
}

/// Columns without their part along those of C.
Stack along_spheres(const RealMatrix& c, RealMatrix columns) {
  for (Index i = 0; i < c.cols(); ++i) columns.col(i) -= c.col(i) * c.col(i).dot(columns.col(i));
  return columns.cast<Complex>();
}

/// What is left out without the normal part is normal, and only where symbols are missing.
TEST(TangentOnly, GivesTheSameTangentGradient) {
  std::uint64_t index = 4000;
  for (const Shape& shape : {Shape{2, 3, 1}, Shape{2, 4, 2}, Shape{4, 4, 2}, Shape{9, 3, 2},
                             Shape{4, 4, 2, Field::kReal, EmissionKind::kState},
                             Shape{4, 9, 2, Field::kComplex, EmissionKind::kState}}) {
    for (int kind = 0; kind < 8; ++kind) {
      RandomStream random(kWeightsSeed, Purpose::kTest, ++index);
      WeightedBatch it;
      Batch& batch = it.batch;
      batch.model = random_model(shape, kind, random);
      auto sequences =
          testing::random_sequences({40, 40, 40, 40, 0, 7, 1, 66}, shape.s, random, 0.5);
      sequences.emplace_back(20, kMissing);
      batch.set = testing::set_of(shape.s, sequences);
      batch.options.burn_in = kind / 4 == 0 ? 0 : 5;
      batch.options.tangent_only = true;
      it.draw_weights(random);
      SCOPED_TRACE(fmt::format("n={} s={} w={} kind {}", shape.n, shape.s, shape.w, kind));
      testing::check_every_engine(
          batch, [&](const BatchGradient& found, const BatchGradient& expected) {
            testing::expect_same_scores(found, expected);
            for (std::size_t k = 0; k < expected.sets.size(); ++k) {
              const Stack& gamma = batch.model.sets[k].stack();
              testing::expect_close(project_tangent(gamma, found.sets[k]),
                                    project_tangent(gamma, expected.sets[k]), 1.0, "tangent");
              if (batch.model.emits_on() == EmissionKind::kEdge) continue;
              const RealMatrix& c = batch.model.sets[k].emission();
              testing::expect_close(along_spheres(c, found.emissions[k]),
                                    along_spheres(c, expected.emissions[k]), 1.0, "of C");
            }
          });
    }
  }
}

TEST(TangentOnly, ChangesNothingForInfeasibleModels) {
  RandomStream random(kWeightsSeed, Purpose::kTest, 5000);
  Batch batch;
  batch.model = testing::random_hqmm({3, 3, 2}, random);
  testing::make_infeasible(batch.model, random);
  batch.set = testing::set_of(3, testing::random_sequences({30, 40}, 3, random, 0.4));
  batch.options.tangent_only = true;
  testing::expect_every_engine_as_naive(batch);
}

/// A weight far below what sixteen steps may lose sends the batch the careful way.
TEST(Weights, HoldOnTheCarefulWay) {
  RandomStream random(kWeightsSeed, Purpose::kTest, 2000);
  for (const Shape& shape : {Shape{2, 3, 1}, Shape{2, 3, 2}, Shape{4, 3, 2}}) {
    WeightedBatch it;
    it.batch.model = testing::random_hqmm(shape, random);
    const Index rows = shape.w * shape.n;
    Stack& gamma = it.batch.model.sets[0].gamma();
    gamma.bottomRows(rows) *= 1e-100;
    it.batch.set = testing::set_of(3, testing::random_sequences({30, 40, 40}, 2, random));
    auto rare = it.batch.set[1].to_vector();
    rare[20] = rare[21] = rare[22] = rare[30] = 2;
    it.batch.set = testing::set_of(3, {it.batch.set[0].to_vector(), rare, rare});
    it.weights = {0.5, -2.0, 1.5};
    it.batch.options.weights = it.weights;
    testing::check_every_engine(
        it.batch, [&](const BatchGradient& found, const BatchGradient& expected) {
          testing::expect_same_scores(found, expected);
          for (Index y = 0; y < 3; ++y) {
            testing::expect_close(found.sets[0].middleRows(y * rows, rows),
                                  expected.sets[0].middleRows(y * rows, rows), 1.0, "a symbol");
          }
        });
  }
}

/// More symbols than one round of a large batch takes.
TEST(Weights, StayWithTheirSequencesAcrossRounds) {
  RandomStream random(kWeightsSeed, Purpose::kTest, 3000);
  WeightedBatch it;
  it.batch.model = testing::random_hqmm({1, 2, 1}, random);
  it.batch.set = testing::set_of(
      2, testing::random_sequences(std::vector<std::size_t>(1400, 1000), 2, random));
  it.draw_weights(random);
  testing::expect_same(it.batch, it.batch.gradient_by(EngineKind::kSuperoperator),
                       it.batch.gradient_by(EngineKind::kNaive));
}

}  // namespace
}  // namespace hqmm::detail
