// The geometry against an independent implementation.
#include <gtest/gtest.h>

#include "hqmm/stiefel/cayley.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;

constexpr double kTolerance = 1e-10;

TEST(Golden, DirectionsAndSteps) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  for (const testing::GoldenCase& item : testing::load_golden_cases(path)) {
    SCOPED_TRACE(item.name());
    const Stack& gamma = item.model.sets.front().gamma();
    const double eta = item.step_size;
    EXPECT_LT(feasibility_residual(gamma), kTolerance);
    EXPECT_LT(distance(project_tangent(gamma, item.gradient), item.projected_gradient), kTolerance);
    EXPECT_LT(distance(newton_schulz_literal(item.projected_gradient), item.ns_literal_5),
              kTolerance);
    EXPECT_LT(distance(polar(item.projected_gradient), item.polar_of_momentum), kTolerance);

    EXPECT_LT(distance(newton_schulz_literal(gamma - eta * item.ns_literal_5), item.literal_step),
              kTolerance);
    const Stack unit_gradient = item.gradient / spectral_norm(item.gradient);
    EXPECT_LT(distance(cayley(gamma, unit_gradient, eta), item.cayley_step), kTolerance);
    const Stack half_step = gamma - eta * item.polar_of_momentum;
    EXPECT_LT(distance(polar(half_step), item.feasible_step), kTolerance);
    const Retraction retraction = retract(half_step);
    EXPECT_TRUE(retraction.converged);
    EXPECT_LT(distance(retraction.gamma, item.feasible_step), kTolerance);
  }
}

}  // namespace
}  // namespace hqmm::detail
