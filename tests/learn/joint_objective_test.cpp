// The objective against its definition, its gradient against differences of it.
#include "hqmm/learn/joint_objective.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/random.hpp"
#include "hqmm/model/smoothing.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/reference.hpp"

namespace hqmm::detail {
namespace {

using Kind = JointObjective::Kind;

struct Problem {
  std::vector<Hqmm> models;
  SequenceSet batch;
  std::vector<std::uint32_t> labels;
  std::vector<double> priors{0.5, 0.2, 0.3};
  std::vector<double> weights{1.0, 2.0, 0.7};
  double smoothing = 0.05;

  explicit Problem(std::uint64_t index) {
    RandomStream random(99, Purpose::kTest, index);
    for (int c = 0; c < 3; ++c)
      models.push_back(
          testing::random_positional_hqmm({2, 3, 2}, PositionMap::Anchor::kEnd, random));
    batch = SequenceSet(Alphabet::integers(3));
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t length = i == 3 ? 0 : 1 + random.below(9);
      for (const Symbol y : testing::random_symbols(length, 3, random, 0.3)) batch.push_back(y);
      batch.end_sequence();
      labels.push_back(static_cast<std::uint32_t>(random.below(3)));
    }
  }

  [[nodiscard]] JointGradient gradient(Kind kind, int threads = 1,
                                       EngineKind engine = EngineKind::kAuto) const {
    JointObjective objective(priors, weights, smoothing, engine, threads);
    return objective.gradient(models, batch, labels, kind);
  }

  /// By products of matrices in long double.
  [[nodiscard]] double objective(Kind kind) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::vector<double> joint;
      for (std::size_t c = 0; c < models.size(); ++c) {
        joint.push_back(
            testing::naive_probability(smoothed(models[c], smoothing), batch[i].to_vector()));
      }
      const std::uint32_t own = labels[i];
      double total = 0.0;
      for (std::size_t c = 0; c < joint.size(); ++c) total += priors[c] * joint[c];
      sum += weights[own] *
             std::log(kind == Kind::kGenerative ? joint[own] : priors[own] * joint[own] / total);
    }
    return sum;
  }
};

/// A tangent direction of norm one.
Stack random_tangent(const Stack& gamma, RandomStream& random) {
  Stack direction(gamma.rows(), gamma.cols());
  for (Index i = 0; i < direction.rows(); ++i)
    for (Index j = 0; j < direction.cols(); ++j)
      direction(i, j) = Complex(random.normal(), random.normal());
  const Stack tangent = project_tangent(gamma, direction);
  return tangent / tangent.norm();
}

/// d objective along the retraction of a tangent, by central differences.
double slope(const Problem& problem, std::size_t c, std::size_t set, const Stack& tangent,
             Kind kind) {
  constexpr double kStep = 1e-5;
  const auto moved = [&](double step) {
    Problem there = problem;
    Stack& gamma = there.models[c].sets[set].gamma();
    gamma = retract(Stack(gamma + step * tangent)).gamma;
    return there.objective(kind);
  };
  return (moved(kStep) - moved(-kStep)) / (2.0 * kStep);
}

TEST(JointObjective, IsWhatItSays) {
  for (const Kind kind : {Kind::kGenerative, Kind::kDiscriminative}) {
    const Problem problem(1);
    EXPECT_NEAR(problem.gradient(kind).objective, problem.objective(kind), 1e-11);
  }
}

TEST(JointObjective, GradientAgainstDifferences) {
  for (const Kind kind : {Kind::kGenerative, Kind::kDiscriminative}) {
    for (const double smoothing : {0.0, 0.05}) {
      Problem problem(2);
      problem.smoothing = smoothing;
      const JointGradient found = problem.gradient(kind);
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t set = 0; set < 3; ++set) {
          RandomStream random(7, Purpose::kTest, c, set);
          const Stack tangent = random_tangent(problem.models[c].sets[set].gamma(), random);
          const double expected = -slope(problem, c, set, tangent, kind);
          const double got =
              (found.sets[c][set].array().conjugate() * tangent.array()).sum().real();
          EXPECT_NEAR(got, expected, 1e-7 * std::max(1.0, std::abs(expected)))
              << "class " << c << ", set " << set << ", smoothing " << smoothing;
        }
      }
    }
  }
}

TEST(JointObjective, TheSameBytesAtAnyThreadCount) {
  const Problem problem(3);
  const JointGradient one = problem.gradient(Kind::kDiscriminative, 1);
  const JointGradient two = problem.gradient(Kind::kDiscriminative, 2);
  EXPECT_EQ(one.objective, two.objective);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t set = 0; set < 3; ++set)
      EXPECT_TRUE(one.sets[c][set] == two.sets[c][set]) << c << ' ' << set;
}

TEST(JointObjective, AClassWithoutSequencesInABatchHasNoGenerativeGradient) {
  Problem problem(4);
  for (std::uint32_t& label : problem.labels) label = label == 1 ? 0 : label;
  const JointGradient found = problem.gradient(Kind::kGenerative);
  ASSERT_EQ(found.sets[1].size(), 3U);
  for (const Stack& set : found.sets[1]) EXPECT_EQ(set.norm(), 0.0);
  EXPECT_GT(found.sets[0][0].norm(), 0.0);
}

TEST(JointObjective, NamesTheSequenceThatIsImpossible) {
  Problem problem(5);
  problem.smoothing = 0.0;
  KrausSet only(3, 2, 2);
  only.op(0, 0) = Matrix::Identity(2, 2);
  for (KrausSet& set : problem.models[1].sets) set = only;
  problem.batch = SequenceSet(Alphabet::integers(3), {{0, 0}, {0, 0, 2, 0}});
  problem.labels = {0, 1};
  for (const Kind kind : {Kind::kGenerative, Kind::kDiscriminative}) {
    try {
      static_cast<void>(problem.gradient(kind));
      ADD_FAILURE() << "was taken";
    } catch (const NotFiniteError& error) {
      EXPECT_EQ(error.place().sequence, 1U);
      EXPECT_EQ(error.place().position, 2U);
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
