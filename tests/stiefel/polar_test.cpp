#include "hqmm/stiefel/polar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hqmm/stiefel/tangent.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;
using testing::feasible;
using testing::gaussian;
using testing::singular_values;
using testing::with_singular_values;

TEST(Polar, IsFeasibleAndLeavesAPositiveFactor) {
  RandomStream random(1, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    const Stack z = gaussian(3 * n, n, random);
    const Stack u = polar(z);
    EXPECT_LT(feasibility_residual(u), 1e-13);
    const Matrix positive = testing::adjoint_product(u, z);
    EXPECT_LT(testing::norm_distance(positive, Matrix(positive.adjoint())), 1e-12);
    EXPECT_NEAR(positive.trace().real(), nuclear_norm(z), 1e-11);  // both are Σ σ_i
  }
}

TEST(Polar, WideAndDeficientStacks) {
  RandomStream random(2, Purpose::kTest);
  const Stack z = gaussian(3, 7, random);
  EXPECT_LT(distance(polar(z), polar(Stack(z.adjoint())).adjoint()), 1e-13);
  EXPECT_LT(feasibility_residual(polar(with_singular_values(12, RealVector{{1, 1, 0}}, random))),
            1e-13);
  EXPECT_LT(feasibility_residual(polar(Stack(Stack::Zero(12, 3)))), 1e-13);
}

TEST(Norms, KnownSingularValues) {
  RandomStream random(3, Purpose::kTest);
  const RealVector values{{3.0, 2.0, 1e-9}};
  const Stack z = with_singular_values(12, values, random);
  EXPECT_NEAR(spectral_norm(z), 3.0, 1e-14);
  EXPECT_NEAR(nuclear_norm(z), 5.0 + 1e-9, 1e-14);
  EXPECT_NEAR(spectral_norm(z.adjoint()), 3.0, 1e-14);
  EXPECT_EQ(spectral_norm(Stack::Zero(6, 2)), 0.0);
  EXPECT_EQ(nuclear_norm(Stack::Zero(6, 2)), 0.0);
}

TEST(Norms, SpectralNormAgreesWithTheDecompositionAtAnyScale) {
  RandomStream random(4, Purpose::kTest);
  for (const double size : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    for (Index n = 1; n <= 16; ++n) {
      const Stack z = gaussian(2 * n, n, random);
      EXPECT_NEAR(spectral_norm(size * z) / size, singular_values(z)[0],
                  1e-14 * singular_values(z)[0])
          << size;
    }
  }
}

TEST(Norms, OperatorDistance) {
  RandomStream random(5, Purpose::kTest);
  const Stack a = feasible(12, 3, random);
  EXPECT_EQ(operator_distance(a, a), 0.0);
  EXPECT_NEAR(operator_distance(a, -0.5 * a), 1.5, 1e-14);
  const Stack step = with_singular_values(12, RealVector{{1e-10, 1e-12, 0}}, random);
  EXPECT_NEAR(operator_distance(a + step, a), 1e-10, 1e-15);
}

TEST(Norms, NonFiniteGivesNaN) {
  Stack z = Stack::Ones(6, 2);
  z(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(spectral_norm(z)));
  EXPECT_TRUE(std::isnan(nuclear_norm(z)));
  EXPECT_FALSE(polar(z).allFinite());
}

}  // namespace
}  // namespace hqmm::detail
