// The fused update of ns-ris against the same written down, and what must not upset it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;

constexpr double kTolerance = 1e-10;
constexpr double kFeasible = 1e-12;

std::unique_ptr<UpdateRule> ns_ris(double momentum,
                                   RetractionKind retraction = RetractionKind::kFeasible) {
  TrainOptions options;
  options.momentum = momentum;
  options.retraction = retraction;
  return make_ns_ris(options);
}

/// The update of ns-ris as it is written down, with a decomposition for the retraction.
struct NaiveNsRis {
  Stack momentum;

  Stack step(const Stack& gamma, const Stack& g, double beta, double eta) {
    const Matrix cross = testing::adjoint_product(g, gamma);
    const Stack tangent = g - testing::product(gamma, Matrix(0.5 * (cross + cross.adjoint())));
    momentum = beta * momentum + (1.0 - beta) * tangent;
    return detail::polar(Stack(gamma - eta * testing::naive_newton_schulz(momentum, 5)));
  }
};

TEST(NsRis, AgreesWithTheNaiveUpdateOnRandomShapes) {
  RandomStream random(7, Purpose::kTest, 8);
  for (int trial = 0; trial < 200; ++trial) {
    const Index n = 1 + static_cast<Index>(random.below(trial % 8 == 0 ? 40 : 9));
    const Index p = n + static_cast<Index>(random.below(6 * static_cast<std::uint64_t>(n)));
    SCOPED_TRACE(std::to_string(p) + "x" + std::to_string(n));
    Stack gamma = testing::feasible(p, n, random);
    NaiveNsRis naive{Stack::Zero(p, n)};
    const auto rule = ns_ris(0.9);
    for (int step = 0; step < 3; ++step) {
      const Stack g = testing::gaussian(p, n, random);
      const double eta = 0.3 * random.uniform();
      const Stack expected = naive.step(gamma, g, 0.9, eta);
      EXPECT_EQ(rule->update(0, gamma, g, eta).halved, 0U);
      EXPECT_LT(distance(gamma, expected), kTolerance);
      EXPECT_LE(feasibility_residual(gamma), kFeasible);
      EXPECT_LT(distance(rule->momenta()[0], naive.momentum), 1e-12);
    }
  }
}

TEST(NsRis, ThousandsOfStepsStayOnTheManifold) {
  RandomStream random(11, Purpose::kTest, 9);
  Stack gamma = testing::feasible(36, 6, random);
  const Stack mean = testing::gaussian(36, 6, random);
  const auto rule = ns_ris(0.9);
  double worst = 0.0;
  for (int step = 0; step < 5000; ++step) {
    rule->update(0, gamma, mean + testing::gaussian(36, 6, random), 0.2);
    worst = std::max(worst, feasibility_residual(gamma));
  }
  EXPECT_LE(worst, kFeasible);
}

// One rule with memory for two shapes must not mix them up.
TEST(NsRis, ParametersDoNotSeeEachOther) {
  RandomStream random(11, Purpose::kTest, 10);
  const Stack starts[] = {testing::feasible(36, 6, random), testing::feasible(6, 1, random),
                          testing::feasible(36, 6, random)};
  for (const RetractionKind kind : {RetractionKind::kFeasible, RetractionKind::kLiteral}) {
    const auto together = ns_ris(0.9, kind);
    const std::unique_ptr<UpdateRule> alone[] = {ns_ris(0.9, kind), ns_ris(0.9, kind),
                                                 ns_ris(0.9, kind)};
    Stack gammas[] = {starts[0], starts[1], starts[2]};
    Stack expected[] = {starts[0], starts[1], starts[2]};
    for (int step = 0; step < 4; ++step) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Stack g = testing::gaussian(gammas[i].rows(), gammas[i].cols(), random);
        together->update(i, gammas[i], g, 0.2);
        alone[i]->update(0, expected[i], g, 0.2);
        EXPECT_TRUE(gammas[i] == expected[i]) << "parameter " << i;
      }
    }
  }
}

TEST(NsRis, StepsBeyondAllMeasureAreHalvedToOnesThatAreNot) {
  RandomStream random(11, Purpose::kTest, 11);
  for (const double eta : {1e30, 1e80, 1e200, 1e308}) {
    Stack gamma = testing::feasible(12, 3, random);
    ns_ris(0.0)->update(0, gamma, testing::gaussian(12, 3, random), eta);
    EXPECT_LE(feasibility_residual(gamma), kFeasible) << eta;
  }
}

TEST(NsRis, TheSizeOfTheGradientDoesNotMatter) {
  RandomStream random(11, Purpose::kTest, 12);
  const Stack start = testing::feasible(12, 3, random);
  const Stack g = testing::gaussian(12, 3, random);
  Stack expected = start;
  ns_ris(0.0)->update(0, expected, g, 0.1);
  for (const double size : {1e-290, 1e-160, 1e-70, 1e70, 1e160, 1e290}) {
    Stack gamma = start;
    ns_ris(0.0)->update(0, gamma, size * g, 0.1);
    EXPECT_LT(distance(gamma, expected), 1e-13) << size;
  }
}

TEST(NsRis, AGradientThatIsNotFiniteMovesNothing) {
  RandomStream random(11, Purpose::kTest, 13);
  const Stack start = testing::feasible(12, 3, random);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Stack g = testing::gaussian(12, 3, random);
    g(5, 1) = bad;
    Stack gamma = start;
    const StepReport report = ns_ris(0.9)->update(0, gamma, g, 0.1);
    EXPECT_TRUE(gamma == start) << bad;
    EXPECT_GT(report.halved, 0U) << "the caller can see that something was wrong";
  }
}

TEST(NsRis, WatchingChangesNothing) {
  RandomStream random(11, Purpose::kTest, 14);
  for (const RetractionKind kind : {RetractionKind::kFeasible, RetractionKind::kLiteral}) {
    Stack watched = testing::feasible(36, 6, random);
    Stack plain = watched;
    const auto watched_rule = ns_ris(0.9, kind);
    const auto plain_rule = ns_ris(0.9, kind);
    int seen = 0;
    watched_rule->watch([&](const StepDetail& step) {
      ++seen;
      EXPECT_TRUE(*step.before == plain);
    });
    for (int step = 0; step < 5; ++step) {
      const Stack g = testing::gaussian(36, 6, random);
      watched_rule->update(0, watched, g, 0.3);
      plain_rule->update(0, plain, g, 0.3);
      EXPECT_TRUE(watched == plain);
    }
    EXPECT_EQ(seen, 5);
  }
}

}  // namespace
}  // namespace hqmm::detail
