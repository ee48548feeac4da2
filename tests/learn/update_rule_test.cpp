// One step of each rule against an independent implementation, and many steps that must stay on
// the manifold, or must not.
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/learn/rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;

constexpr double kSameStep = 1e-10;
constexpr double kFeasibleStep = 1e-12;

TrainOptions rule_options(LearnerKind learner, RetractionKind retraction, double momentum) {
  TrainOptions options;
  options.learner = learner;
  options.retraction = retraction;
  options.momentum = momentum;
  return options;
}

std::unique_ptr<UpdateRule> ns_ris(RetractionKind retraction, double momentum) {
  return make_ns_ris(rule_options(LearnerKind::kNsRis, retraction, momentum));
}

std::unique_ptr<UpdateRule> cosm(double momentum) {
  return make_cosm(rule_options(LearnerKind::kCosm, RetractionKind::kFeasible, momentum));
}

double log_uniform_step(RandomStream& random) {
  return std::exp(std::log(1e-4) + random.uniform() * (std::log(2.0) - std::log(1e-4)));
}

TEST(UpdateRule, OneStepMatchesTheGoldenCases) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  for (const testing::GoldenCase& item : testing::load_golden_cases(path)) {
    SCOPED_TRACE(item.name());
    const Stack& start = item.model.sets.front().gamma();

    Stack literal = start;
    ns_ris(RetractionKind::kLiteral, 0.0)->update(0, literal, item.gradient, item.step_size);
    EXPECT_LT(distance(literal, item.literal_step), kSameStep);

    Stack feasible = start;
    ns_ris(RetractionKind::kFeasible, 0.0)->update(0, feasible, item.gradient, item.step_size);
    EXPECT_LT(distance(feasible, retract(start - item.step_size * item.ns_literal_5).gamma),
              kSameStep);
    EXPECT_LE(feasibility_residual(feasible), kFeasibleStep);

    Stack cayley = start;
    cosm(0.0)->update(0, cayley, item.gradient, item.step_size);
    EXPECT_LT(distance(cayley, item.cayley_step), kSameStep);
    EXPECT_LE(feasibility_residual(cayley), kFeasibleStep);
  }
}

TEST(UpdateRule, MomentumIsThePastAndTheTangentGradient) {
  RandomStream random(7, Purpose::kTest, 1);
  Stack gamma = testing::feasible(12, 3, random);
  const auto rule = ns_ris(RetractionKind::kFeasible, 0.9);
  const Stack first = testing::gaussian(12, 3, random);
  const Stack first_tangent = project_tangent(gamma, first);
  rule->update(0, gamma, first, 0.1);
  EXPECT_LT(distance(rule->momenta()[0], 0.1 * first_tangent), 1e-14);

  const Stack second = testing::gaussian(12, 3, random);
  const Stack second_tangent = project_tangent(gamma, second);
  rule->update(0, gamma, second, 0.1);
  EXPECT_LT(distance(rule->momenta()[0], 0.09 * first_tangent + 0.1 * second_tangent), 1e-14);
}

TEST(UpdateRule, CosmForgetsItsMomentumBetweenEpochs) {
  RandomStream random(7, Purpose::kTest, 2);
  const Stack start = testing::feasible(8, 2, random);
  const Stack g = testing::gaussian(8, 2, random);
  const auto fresh = cosm(0.9);
  Stack expected = start;
  fresh->update(0, expected, g, 0.3);

  const auto used = cosm(0.9);
  Stack gamma = start;
  used->update(0, gamma, testing::gaussian(8, 2, random), 0.3);
  EXPECT_NEAR(spectral_norm(used->momenta()[0]), 1.0, 1e-14);
  used->begin_epoch();
  gamma = start;
  used->update(0, gamma, g, 0.3);
  EXPECT_TRUE(gamma == expected);
}

struct ManifoldShape {
  Index rows, cols;
};

// Γ of several models, and B of ρ₀ = BB† as a point of a sphere.
constexpr ManifoldShape kShapes[] = {{4, 2},  {24, 2}, {36, 3}, {72, 6}, {1, 1},   {4, 1},
                                     {16, 1}, {25, 5}, {7, 7},  {48, 8}, {192, 8}, {40, 20}};

TEST(UpdateRule, EveryFeasibleStepStaysOnTheManifold) {
  for (const bool cayley : {false, true}) {
    for (const ManifoldShape& shape : kShapes) {
      SCOPED_TRACE((cayley ? "cosm " : "ns-ris ") + std::to_string(shape.rows) + "x" +
                   std::to_string(shape.cols));
      RandomStream random(11, Purpose::kTest, static_cast<std::uint64_t>(shape.rows));
      Stack gamma = testing::feasible(shape.rows, shape.cols, random);
      const auto rule = cayley ? cosm(0.9) : ns_ris(RetractionKind::kFeasible, 0.9);
      double worst = 0.0;
      for (int step = 0; step < 300; ++step) {
        const Stack g = testing::gaussian(shape.rows, shape.cols, random);
        rule->update(0, gamma, g, log_uniform_step(random));
        worst = std::max(worst, feasibility_residual(gamma));
      }
      EXPECT_LE(worst, kFeasibleStep);
    }
  }
}

TEST(UpdateRule, LiteralStepsLeaveTheManifold) {
  RandomStream random(11, Purpose::kTest, 3);
  Stack gamma = testing::feasible(72, 6, random);
  const auto rule = ns_ris(RetractionKind::kLiteral, 0.9);
  for (int step = 0; step < 20; ++step) {
    rule->update(0, gamma, testing::gaussian(72, 6, random), 0.2);
    EXPECT_GT(feasibility_residual(gamma), 0.01);
    EXPECT_LT(spectral_norm(gamma), 1.2);
  }
}

TEST(UpdateRule, EveryParameterHasAMomentumOfItsOwn) {
  RandomStream random(11, Purpose::kTest, 4);
  Stack large = testing::feasible(12, 2, random);
  Stack small = testing::feasible(4, 1, random);
  const auto rule = ns_ris(RetractionKind::kFeasible, 0.9);
  rule->update(1, small, testing::gaussian(4, 1, random), 0.1);
  rule->update(0, large, testing::gaussian(12, 2, random), 0.1);
  ASSERT_EQ(rule->momenta().size(), 2U);
  EXPECT_EQ(rule->momenta()[0].rows(), 12);
  EXPECT_EQ(rule->momenta()[1].rows(), 4);
}

TEST(UpdateRule, NoGradientMovesNothing) {
  RandomStream random(11, Purpose::kTest, 5);
  const Stack start = testing::feasible(12, 3, random);
  for (const bool cayley : {false, true}) {
    Stack gamma = start;
    const auto rule = cayley ? cosm(0.9) : ns_ris(RetractionKind::kFeasible, 0.9);
    for (int step = 0; step < 3; ++step) rule->update(0, gamma, Stack::Zero(12, 3), 0.5);
    EXPECT_LT(distance(gamma, start), 1e-14);
  }
}

// A gradient of rank one leaves the other directions of a giant step to rounding.
TEST(UpdateRule, AStepThatLosesRankIsHalvedUntilItDoesNot) {
  RandomStream random(11, Purpose::kTest, 6);
  const Stack start = testing::feasible(12, 3, random);
  Stack rank_one = Stack::Zero(12, 3);
  rank_one.col(0) = testing::gaussian(12, 1, random);
  Stack gamma = start;
  const auto rule = ns_ris(RetractionKind::kFeasible, 0.0);
  double taken = 0.0;
  rule->watch([&](const StepDetail& step) { taken = step.step_size; });
  const StepReport report = rule->update(0, gamma, rank_one, 1e18);
  EXPECT_GT(report.halved, 0U);
  EXPECT_DOUBLE_EQ(taken, std::ldexp(1e18, -static_cast<int>(report.halved)));
  EXPECT_LE(feasibility_residual(gamma), kFeasibleStep);
}

TEST(UpdateRule, TheWatcherSeesTheStepFromInside) {
  RandomStream random(11, Purpose::kTest, 7);
  const Stack start = testing::feasible(12, 3, random);
  const Stack g = testing::gaussian(12, 3, random);
  Stack gamma = start;
  Stack seen_after;
  const auto rule = ns_ris(RetractionKind::kFeasible, 0.5);
  rule->watch([&](const StepDetail& step) {
    EXPECT_EQ(step.parameter, 0U);
    EXPECT_EQ(step.step_size, 0.25);
    EXPECT_TRUE(*step.before == start);
    EXPECT_LT(distance(*step.gradient, project_tangent(start, g)), 1e-15);
    EXPECT_LT(distance(*step.momentum, 0.5 * *step.gradient), 1e-15);
    EXPECT_LT(distance(*step.direction, newton_schulz_literal(*step.momentum)), 1e-15);
    EXPECT_LT(distance(*step.moved, start - 0.25 * *step.direction), 1e-15);
    seen_after = *step.after;
  });
  rule->update(0, gamma, g, 0.25);
  EXPECT_TRUE(seen_after == gamma);
}

}  // namespace
}  // namespace hqmm::detail
