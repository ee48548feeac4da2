#include "hqmm/stiefel/tangent.hpp"

#include <gtest/gtest.h>

#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::adjoint_product;
using testing::distance;
using testing::feasible;
using testing::gaussian;
using testing::norm_distance;
using testing::product;

/// The formula as it is written.
Stack naive_project(const Stack& gamma, const Stack& g) {
  const Matrix cross = adjoint_product(g, gamma);
  return g - product(gamma, Matrix(0.5 * (cross + cross.adjoint())));
}

TEST(Tangent, ProjectionIsTheFormulaOnAnyStack) {
  RandomStream random(1, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    for (const Index blocks : {1, 2, 7}) {
      const Stack gamma = gaussian(blocks * n, n, random);
      const Stack g = gaussian(blocks * n, n, random);
      const double size = gamma.squaredNorm() * g.norm();
      EXPECT_LT(distance(project_tangent(gamma, g), naive_project(gamma, g)), 1e-14 * size);
    }
  }
}

TEST(Tangent, ProjectionIsTangentIdempotentAndOrthogonal) {
  RandomStream random(2, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    const Stack gamma = feasible(4 * n, n, random);
    const Stack g = gaussian(4 * n, n, random);
    const Stack tangent = project_tangent(gamma, g);
    const Matrix inside = adjoint_product(tangent, gamma);
    EXPECT_LT(norm_distance(inside, Matrix(-inside.adjoint())), 1e-12);
    EXPECT_LT(distance(project_tangent(gamma, tangent), tangent), 1e-13);
    // ⟨G − P(G), P(X)⟩ = 0: the projection is the orthogonal one.
    const Stack other = project_tangent(gamma, gaussian(4 * n, n, random));
    EXPECT_LT(std::abs(testing::inner(g - tangent, other)), 1e-11);
  }
}

TEST(Tangent, FeasibilityResidual) {
  RandomStream random(3, Purpose::kTest);
  const Stack gamma = feasible(24, 6, random);
  EXPECT_LT(feasibility_residual(gamma), 1e-14);
  EXPECT_NEAR(feasibility_residual(2.0 * gamma), 3.0 * std::sqrt(6.0), 1e-12);
  EXPECT_NEAR(feasibility_residual(Stack::Zero(24, 6)), std::sqrt(6.0), 1e-15);
}

}  // namespace
}  // namespace hqmm::detail
