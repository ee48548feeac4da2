// The paper's polynomial: its value, and what it does to singular values.
#include "hqmm/stiefel/newton_schulz.hpp"

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
using testing::naive_newton_schulz;
using testing::singular_values;
using testing::with_singular_values;

TEST(NewtonSchulzLiteral, AgreesWithTheTallForm) {
  RandomStream random(1, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    for (const Index blocks : {1, 2, 6, 24}) {
      const Stack z = gaussian(blocks * n, n, random);
      for (const int steps : {0, 1, 3, 5, 10}) {
        EXPECT_LT(distance(newton_schulz_literal(z, steps), naive_newton_schulz(z, steps)), 1e-12)
            << n << ' ' << blocks << ' ' << steps;
      }
    }
  }
}

TEST(NewtonSchulzLiteral, AgreesOnIllConditionedAndRankDeficientStacks) {
  RandomStream random(2, Purpose::kTest);
  for (const double smallest : {1e-3, 1e-8, 1e-14, 0.0}) {
    const RealVector values{{2.0, 1.0, 0.1, smallest}};
    const Stack z = with_singular_values(16, values, random);
    EXPECT_LT(distance(newton_schulz_literal(z), naive_newton_schulz(z, 5)), 1e-11) << smallest;
  }
}

TEST(NewtonSchulzLiteral, WideStacksWorkOnTheAdjoint) {
  RandomStream random(3, Purpose::kTest);
  const Stack z = gaussian(3, 7, random);
  const Stack d = newton_schulz_literal(z);
  ASSERT_EQ(d.rows(), 3);
  ASSERT_EQ(d.cols(), 7);
  EXPECT_LT(distance(d, naive_newton_schulz(z, 5)), 1e-13);
}

TEST(NewtonSchulzLiteral, DoesNotSeeTheScale) {
  RandomStream random(4, Purpose::kTest);
  const Stack z = gaussian(12, 4, random);
  const Stack expected = newton_schulz_literal(z);
  for (const double size : {1e-300, 1e-160, 1e-5, 1e5, 1e160, 1e300}) {
    EXPECT_LT(distance(newton_schulz_literal(size * z), expected), 1e-13) << size;
  }
}

TEST(NewtonSchulzLiteral, ZeroGivesZeroAndNonFiniteComesBack) {
  EXPECT_TRUE(newton_schulz_literal(Stack::Zero(12, 3)).isZero(0.0));
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Stack z = Stack::Ones(12, 3);
    z(5, 1) = bad;
    const Stack d = newton_schulz_literal(z);
    EXPECT_FALSE(d.allFinite());
    EXPECT_EQ(d(0, 0), Complex(1.0));
  }
}

/// Singular values of this share of the Frobenius norm and above are not tiny: T steps lift them by
/// up to 3.4445^T into the band.
TEST(NewtonSchulzLiteral, SingularValuesEndInTheBandFromFourSteps) {
  RandomStream random(5, Purpose::kTest);
  for (const int steps : {4, 5, 6, 7, 10}) {
    const double not_tiny = steps == 4 ? 0.03 : 0.01;
    for (int trial = 0; trial < 400; ++trial) {
      RealVector values(2 + static_cast<Index>(random.below(7)));
      for (double& value : values) value = std::exp(std::log(2.0 * not_tiny) * random.uniform());
      values /= values.norm();
      if (values.minCoeff() < not_tiny) continue;
      const RealVector after =
          singular_values(newton_schulz_literal(with_singular_values(24, values, random), steps));
      EXPECT_GT(after.minCoeff(), 0.68) << "T = " << steps << ", trial " << trial;
      EXPECT_LT(after.maxCoeff(), 1.14) << "T = " << steps << ", trial " << trial;
    }
  }
}

// findings.md §1: after the Frobenius norm, n equal singular values are 1/√n, and f⁵(1/√6) ≈ 1.10.
TEST(NewtonSchulzLiteral, SixEqualSingularValuesInflateByATenth) {
  RandomStream random(6, Purpose::kTest);
  const RealVector after = singular_values(newton_schulz_literal(feasible(36, 6, random)));
  EXPECT_NEAR(after.minCoeff(), 1.10, 0.01);
  EXPECT_NEAR(after.maxCoeff(), 1.10, 0.01);
}

// …and four deflate, which loses likelihood instead.
TEST(NewtonSchulzLiteral, FourEqualSingularValuesDeflate) {
  RandomStream random(7, Purpose::kTest);
  EXPECT_NEAR(singular_values(newton_schulz_literal(feasible(24, 4, random))).maxCoeff(), 0.77,
              0.03);
}

TEST(NewtonSchulzLiteral, LeavesTheManifold) {
  RandomStream random(8, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    for (const int steps : {4, 5, 6}) {
      const Stack after = newton_schulz_literal(feasible(3 * n, n, random), steps);
      EXPECT_GT(feasibility_residual(after), 0.01) << n << ' ' << steps;
    }
  }
}

TEST(NewtonSchulzLiteral, OneIsNoFixedPoint) {
  const double at_one = 3.4445 - 4.7750 + 2.0315;  // f(1)
  EXPECT_GT(std::abs(at_one - 1.0), 0.29);
}

}  // namespace
}  // namespace hqmm::detail
