#include <gtest/gtest.h>

#include "hqmm/core/random.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::norm_distance;

/// The rule as its formulas say, with a decomposition for the retraction.
TEST(ScaledMomentum, DoesWhatItSays) {
  RandomStream random(5, Purpose::kTest);
  Stack gamma = random_kraus(3, 2, 2, random).gamma();
  Stack twin = gamma;
  Stack m = Stack::Zero(12, 2);
  double v = 0.0;
  const auto rule = make_scaled_momentum(0.8, 0.9);
  for (int k = 1; k <= 6; ++k) {
    const Stack g = 1e3 * Stack::Random(12, 2);
    const Stack tangent = project_tangent(twin, g);
    v = 0.9 * v + 0.1 * tangent.squaredNorm();
    m = 0.8 * m + 0.2 * tangent;
    twin = polar(Stack(twin - 0.05 / std::sqrt(v / (1.0 - std::pow(0.9, k))) * m));
    EXPECT_EQ(rule->update(0, gamma, g, 0.05).halved, 0U);
    EXPECT_LE(norm_distance(gamma, twin), 1e-12) << "step " << k;
    EXPECT_LE(feasibility_residual(gamma), 1e-12);
  }
}

TEST(ScaledMomentum, WithoutASecondMomentTheGradientCountsAsItIs) {
  RandomStream random(6, Purpose::kTest);
  Stack gamma = random_kraus(2, 2, 2, random).gamma();
  const Stack before = gamma;
  const Stack g = Stack::Random(8, 2);
  const auto rule = make_scaled_momentum(0.0, 0.0);
  rule->update(0, gamma, g, 0.01);
  const Stack expected = polar(Stack(before - 0.01 * project_tangent(before, g)));
  EXPECT_LE(norm_distance(gamma, expected), 1e-12);
}

TEST(ScaledMomentum, ParametersDoNotMix) {
  RandomStream random(7, Purpose::kTest);
  const Stack start = random_kraus(2, 2, 2, random).gamma();
  const Stack g = Stack::Random(8, 2);
  Stack alone = start;
  make_scaled_momentum(0.9, 0.99)->update(0, alone, g, 0.1);
  const auto rule = make_scaled_momentum(0.9, 0.99);
  Stack other = random_kraus(3, 1, 3, random).gamma();
  rule->update(0, other, Stack::Random(9, 3), 0.1);
  Stack second = start;
  rule->update(1, second, g, 0.1);
  EXPECT_LE(norm_distance(second, alone), 1e-15);
}

TEST(ScaledMomentum, StaysWhereThereIsNoGradient) {
  RandomStream random(8, Purpose::kTest);
  Stack gamma = random_kraus(2, 2, 2, random).gamma();
  const Stack before = gamma;
  const auto rule = make_scaled_momentum(0.9, 0.99);
  rule->update(0, gamma, Stack::Zero(8, 2), 0.1);
  EXPECT_TRUE(gamma == before);
}

}  // namespace
}  // namespace hqmm::detail
