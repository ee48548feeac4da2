// The n × n iterations against the same polynomials written out with Eigen.
#include "hqmm/stiefel/gram_iteration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;
using testing::fill;
using testing::hermitian;
using testing::product;

Matrix naive_literal(Matrix h, int steps) {
  const Matrix one = Matrix::Identity(h.rows(), h.rows());
  Matrix q = one;
  for (int step = 0; step < steps; ++step) {
    const Matrix p = 3.4445 * one - 4.7750 * h + 2.0315 * product(h, h);
    q = product(q, p);
    h = product(product(p, h), p);
  }
  return q;
}

double distance_from_one(const Matrix& h) {
  return testing::norm_distance(h, Matrix(Matrix::Identity(h.rows(), h.rows())));
}

RealVector spread(Index n, double least, double most) {
  return RealVector::LinSpaced(n, least, most);
}

TEST(GramIteration, LiteralIsThePolynomial) {
  RandomStream random(1, Purpose::kTest);
  GramIteration iteration;
  for (Index n = 1; n <= 40; ++n) {
    RealVector values = spread(n, 0.1, 1.0);
    values /= values.sum();
    const Matrix h = hermitian(values, random);
    iteration.resize(n);
    for (const int steps : {0, 1, 2, 5}) {
      fill(iteration.gram(), 7.0 * h);
      iteration.run_literal(1.0 / 7.0, steps);
      const Matrix expected = naive_literal(h, steps);
      EXPECT_LT(distance(to_matrix(iteration.factor()), expected), 1e-12 * expected.norm())
          << n << ", " << steps << " steps";
    }
  }
}

TEST(GramIteration, ConvergentEndsAtTheInverseRoot) {
  RandomStream random(2, Purpose::kTest);
  GramIteration iteration;
  for (Index n = 1; n <= 40; ++n) {
    const Matrix h = hermitian(spread(n, 0.1, 2.2), random);
    iteration.resize(n);
    fill(iteration.gram(), h / 0.3);
    const GramIteration::Outcome outcome = iteration.run_convergent(0.3, 30);
    EXPECT_TRUE(outcome.finished) << n;
    EXPECT_LE(outcome.steps, 9) << n;
    const Matrix q = to_matrix(iteration.factor());
    EXPECT_LT(distance_from_one(product(product(q, h), q)), 5e-13) << n;
    EXPECT_LT(testing::norm_distance(q, Matrix(q.adjoint())), 1e-12) << n;
  }
}

// Each degree of the last step, from the largest residual it is trusted with.
TEST(GramIteration, OneStepIsEnoughFromTheLimitOfEachDegree) {
  RandomStream random(3, Purpose::kTest);
  GramIteration iteration;
  for (const Index n : {1, 2, 3, 6, 8, 17}) {
    iteration.resize(n);
    for (const double sign : {-1.0, 1.0}) {
      for (const double residual : {1e-14, 1e-6, 4.99e-5, 5.01e-5, 1e-4, 2.79e-3, 2.81e-3, 5e-3,
                                    1.49e-2, 1.51e-2, 2.4e-2, 3.79e-2}) {
        RealVector off = RealVector::Zero(n);
        off[0] = sign * residual;  // all of it in one eigenvalue is the worst case
        const Matrix h = hermitian(RealVector(off.array() + 1.0), random);
        fill(iteration.gram(), h);
        EXPECT_NEAR(iteration.norms().residual, residual, 1e-2 * residual + 1e-14);
        const GramIteration::Outcome outcome = iteration.run_convergent(1.0, 30);
        EXPECT_EQ(outcome.steps, 1) << residual;
        EXPECT_TRUE(outcome.finished);
        const Matrix q = to_matrix(iteration.factor());
        EXPECT_LT(distance_from_one(product(product(q, h), q)), 1.5e-13)
            << n << ", residual " << sign * residual;
      }
    }
  }
}

TEST(GramIteration, BeyondTheLastDegreeItTakesTwoSteps) {
  RandomStream random(4, Purpose::kTest);
  GramIteration iteration;
  iteration.resize(6);
  fill(iteration.gram(), hermitian(spread(6, 0.97, 1.03), random));
  EXPECT_EQ(iteration.run_convergent(1.0, 30).steps, 2);
}

TEST(GramIteration, TheBudgetEndsIt) {
  RandomStream random(5, Purpose::kTest);
  GramIteration iteration;
  iteration.resize(3);
  fill(iteration.gram(), hermitian(RealVector{{1.0, 0.5, 1e-4}}, random));
  const GramIteration::Outcome outcome = iteration.run_convergent(1.0, 3);
  EXPECT_EQ(outcome.steps, 3);
  EXPECT_FALSE(outcome.finished);
}

TEST(GramIteration, Norms) {
  RandomStream random(6, Purpose::kTest);
  GramIteration iteration;
  for (Index n = 1; n <= 20; ++n) {
    const RealVector values = spread(n, 0.2, 1.9);
    iteration.resize(n);
    fill(iteration.gram(), hermitian(values, random));
    const GramNorms norms = iteration.norms();
    EXPECT_NEAR(norms.residual, (values.array() - 1.0).matrix().norm(), 1e-13);
    EXPECT_NEAR(norms.squares, values.squaredNorm(), 1e-12);
    EXPECT_NEAR(norms.trace, values.sum(), 1e-12);
  }
}

// Runs leave nothing behind that a later one could see.
TEST(GramIteration, UsedMemoryGivesTheSameBytes) {
  RandomStream random(7, Purpose::kTest);
  GramIteration used;
  for (const Index n : {6, 6, 3, 8, 2, 6, 20, 5}) {
    const Matrix h = hermitian(spread(n, 0.3, 1.4), random);
    GramIteration fresh;
    for (GramIteration* iteration : {&used, &fresh}) {
      iteration->resize(n);
      fill(iteration->gram(), h);
      iteration->run_literal(0.2, 5);
      fill(iteration->gram(), h);
      static_cast<void>(iteration->run_convergent(1.0, 8));
    }
    EXPECT_TRUE(to_matrix(used.factor()) == to_matrix(fresh.factor())) << n;
  }
}

}  // namespace
}  // namespace hqmm::detail
