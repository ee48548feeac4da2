#include "hqmm/stiefel/cayley.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::adjoint_product;
using testing::distance;
using testing::feasible;
using testing::gaussian;
using testing::product;
using testing::solve;

/// (I + (η/2)A)⁻¹(I − (η/2)A)Γ with the p × p skew A = MΓ† − ΓM†.
Stack naive_cayley(const Stack& gamma, const Stack& m, double eta) {
  const Matrix half = product(m, Matrix(gamma.adjoint()));
  const Matrix a = 0.5 * eta * (half - half.adjoint());
  const Matrix one = Matrix::Identity(gamma.rows(), gamma.rows());
  return solve(one + a, product(Matrix(one - a), Matrix(gamma)));
}

TEST(Cayley, IsTheCayleyTransformAndKeepsFeasibility) {
  RandomStream random(1, Purpose::kTest);
  for (int trial = 0; trial < 300; ++trial) {
    const Index n = 1 + static_cast<Index>(random.below(12));
    const Index p = n * (2 + static_cast<Index>(random.below(8)));
    const Stack gamma = feasible(p, n, random);
    Stack m = gaussian(p, n, random);
    m /= spectral_norm(m);
    const double eta = std::exp(std::log(1e-4) + random.uniform() * std::log(2e4));
    const Stack moved = cayley(gamma, m, eta);
    EXPECT_LT(distance(moved, naive_cayley(gamma, m, eta)), 1e-12) << n << ' ' << p << ' ' << eta;
    EXPECT_LE(feasibility_residual(moved), 1e-12);
  }
}

TEST(Cayley, SquareStacksToo) {
  RandomStream random(2, Purpose::kTest);
  const Stack gamma = feasible(5, 5, random);
  const Stack m = gaussian(5, 5, random);
  EXPECT_LT(distance(cayley(gamma, m, 0.3), naive_cayley(gamma, m, 0.3)), 1e-12);
}

TEST(Cayley, FollowsMinusTheGradientToFirstOrder) {
  RandomStream random(3, Purpose::kTest);
  const Stack gamma = feasible(24, 4, random);
  const Stack m = gaussian(24, 4, random);
  const double eta = 1e-6;
  const Stack velocity = (cayley(gamma, m, eta) - gamma) / eta;
  const Stack expected = product(gamma, adjoint_product(m, gamma)) - m;  // −AΓ
  EXPECT_LT(distance(velocity, expected), 1e-4);
}

TEST(Cayley, ZeroMomentumOrStepStays) {
  RandomStream random(4, Purpose::kTest);
  const Stack gamma = feasible(12, 3, random);
  EXPECT_TRUE(cayley(gamma, Stack::Zero(12, 3), 0.7) == gamma);
  EXPECT_TRUE(cayley(gamma, gaussian(12, 3, random), 0.0) == gamma);
}

/// Feasibility is kept, not restored: rounding may add up over a training run, but slowly.
TEST(Cayley, ThousandsOfStepsStayFeasible) {
  RandomStream random(5, Purpose::kTest);
  Stack gamma = feasible(36, 6, random);
  for (int step = 0; step < 5000; ++step) {
    Stack m = gaussian(36, 6, random);
    m /= spectral_norm(m);
    gamma = cayley(gamma, m, 0.5);
  }
  EXPECT_LE(feasibility_residual(gamma), 1e-12);
}

}  // namespace
}  // namespace hqmm::detail
