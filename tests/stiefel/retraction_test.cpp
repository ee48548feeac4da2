// The convergent retraction: feasible to 1e-12, equal to the polar factor, and honest when it
// fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::distance;
using testing::feasible;
using testing::gaussian;
using testing::naive_residual;
using testing::singular_values;
using testing::with_singular_values;

struct Case {
  Stack gamma, direction;
  double eta;
};

/// A step of an optimiser: along the literal direction of a tangent vector, or anywhere.
Case random_case(RandomStream& random, bool tangent) {
  const Index n = 1 + static_cast<Index>(random.below(12));
  const Index s = 2 + static_cast<Index>(random.below(5));
  const Index w = 1 + static_cast<Index>(random.below(4));
  Case out{feasible(s * w * n, n, random), gaussian(s * w * n, n, random), 0.0};
  if (tangent) {
    out.direction = newton_schulz_literal(project_tangent(out.gamma, out.direction));
  } else {
    out.direction *= 1.2 * random.uniform() / spectral_norm(out.direction);
  }
  out.eta = std::exp(std::log(1e-4) + random.uniform() * std::log(2e4));
  return out;
}

void expect_polar_factor(const Stack& z, const Retraction& got) {
  ASSERT_TRUE(got.converged) << "residual " << got.residual << " after " << got.iterations
                             << ", smallest singular value " << singular_values(z).minCoeff();
  EXPECT_LE(got.residual, kRetractionTolerance);
  EXPECT_LE(naive_residual(got.gamma), 1.1 * kRetractionTolerance);
  EXPECT_LT(distance(got.gamma, polar(z)), 1e-9);
}

/// Runs `trials` steps and returns the largest iteration count.
int check_steps(bool tangent, int trials) {
  RandomStream random(1, Purpose::kTest, tangent ? 0 : 1);
  int most = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const Case step = random_case(random, tangent);
    const Stack z = step.gamma - step.eta * step.direction;
    const Retraction got = retract(z);
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", eta " << step.eta << ", n "
                                      << z.cols() << ", p " << z.rows());
    expect_polar_factor(z, got);
    most = std::max(most, got.iterations);
  }
  return most;
}

TEST(Retraction, PropertyAlongTheLiteralDirection) {
  const int most = check_steps(true, 2000);
  RecordProperty("most_iterations", most);
  EXPECT_LE(most, 12);
}

TEST(Retraction, PropertyAlongArbitraryDirections) {
  const int most = check_steps(false, 2000);
  RecordProperty("most_iterations", most);
  EXPECT_LE(most, kRetractionIterations);
}

// What findings.md §3 measured, as ceilings.
TEST(Retraction, SmallStepsTakeFewIterations) {
  RandomStream random(2, Purpose::kTest);
  const std::pair<double, int> ceilings[] = {{1e-4, 1}, {0.01, 2}, {0.1, 3}, {0.3, 4}};
  for (const auto& [eta, ceiling] : ceilings) {
    for (const Index n : {2, 6}) {
      for (int trial = 0; trial < 50; ++trial) {
        const Stack gamma = feasible(6 * n, n, random);
        const Stack tangent = project_tangent(gamma, gaussian(6 * n, n, random));
        const Retraction got = retract(gamma - eta * newton_schulz_literal(tangent));
        EXPECT_TRUE(got.converged);
        EXPECT_LE(got.iterations, ceiling) << "eta " << eta << ", n " << n;
      }
    }
  }
}

TEST(Retraction, SquareStacksToo) {
  RandomStream random(3, Purpose::kTest);
  for (Index n = 1; n <= 12; ++n) {
    const RealVector values = RealVector::LinSpaced(n, 0.05, 1.5);
    const Stack z = with_singular_values(n, values, random);
    expect_polar_factor(z, retract(z));
  }
}

TEST(Retraction, SmallSingularValuesConvergeAndStayAccurate) {
  RandomStream random(4, Purpose::kTest);
  for (const double smallest : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const RealVector values{{1.0, 0.9, 0.5, smallest}};
    const Stack z = with_singular_values(24, values, random);
    SCOPED_TRACE(smallest);
    expect_polar_factor(z, retract(z));
  }
}

TEST(Retraction, RankDeficientIsReported) {
  RandomStream random(5, Purpose::kTest);
  for (Index n = 2; n <= 12; ++n) {
    RealVector values = RealVector::LinSpaced(n, 0.0, 1.2);
    const Stack numerically = with_singular_values(4 * n, values, random);
    Stack exactly = gaussian(4 * n, n, random);
    exactly.col(n - 1).setZero();
    Stack repeated = gaussian(4 * n, n, random);
    repeated.col(n - 1) = repeated.col(0);
    for (const Stack& z : {numerically, exactly, repeated}) {
      const Retraction got = retract(z);
      EXPECT_FALSE(got.converged);
      EXPECT_GT(got.residual, 0.1);
      EXPECT_LE(got.iterations, kRetractionIterations);
      EXPECT_TRUE(got.gamma.allFinite());
    }
  }
  EXPECT_FALSE(retract(Stack::Zero(12, 3)).converged);
  EXPECT_FALSE(retract(gaussian(2, 5, random)).converged) << "wide: Γ†Γ = I is impossible";
}

TEST(Retraction, NonFiniteIsReported) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Stack z = Stack::Identity(12, 3);
    z(5, 1) = bad;
    const Retraction got = retract(z);
    EXPECT_FALSE(got.converged);
    EXPECT_EQ(got.iterations, 0);
  }
}

TEST(Retraction, FeasibleComesBackUntouched) {
  RandomStream random(6, Purpose::kTest);
  const Stack gamma = feasible(36, 6, random);
  const Retraction got = retract(gamma);
  EXPECT_TRUE(got.converged);
  EXPECT_EQ(got.iterations, 0);
  EXPECT_TRUE(got.gamma == gamma);
}

TEST(Retraction, DoesNotSeeTheScale) {
  RandomStream random(7, Purpose::kTest);
  const Stack z = gaussian(24, 4, random);
  for (const double size : {1e-300, 1e-160, 1e-80, 1e-3, 1e3, 1e80, 1e160, 1e300}) {
    const Retraction got = retract(size * z);
    EXPECT_TRUE(got.converged) << size;
    EXPECT_LT(distance(got.gamma, polar(z)), 1e-12) << size;
  }
}

TEST(Retraction, RespectsItsBudget) {
  RandomStream random(8, Purpose::kTest);
  const Stack z = with_singular_values(24, RealVector{{1.0, 0.5, 0.01}}, random);
  const Retraction got = retract(z, kRetractionTolerance, 3);
  EXPECT_EQ(got.iterations, 3);
  EXPECT_FALSE(got.converged);
}

// Where feasibility is not measured again it must hold all the same: measured here.
TEST(Retraction, InPlaceIsFeasibleAndThePolarFactor) {
  RandomStream random(10, Purpose::kTest);
  GramIteration iteration;
  int unmeasured = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Index n = 1 + static_cast<Index>(random.below(trial % 10 == 0 ? 40 : 9));
    const Index p = n + static_cast<Index>(random.below(5 * static_cast<std::uint64_t>(n)));
    const double eta = std::exp(std::log(1e-4) + random.uniform() * std::log(1e4));
    const Stack gamma = feasible(p, n, random);
    const Stack z = gamma - eta * newton_schulz_literal(gaussian(p, n, random));
    Stack moved = z;
    Stack after(p, n);
    const RetractionReport report = retract(moved, after, iteration);
    SCOPED_TRACE(::testing::Message() << p << " x " << n << ", eta " << eta);
    const Retraction measured = retract(z);
    EXPECT_EQ(report.converged, measured.converged);
    if (!report.converged) continue;
    EXPECT_LE(naive_residual(after), kRetractionTolerance);
    EXPECT_LE(report.residual, kRetractionTolerance);
    EXPECT_LT(distance(after, measured.gamma), 1e-12);
    if (report.residual != measured.residual) ++unmeasured;
  }
  EXPECT_GT(unmeasured, 200) << "most steps take the short way";
}

TEST(Retraction, InPlaceReportsWhatItCannotDo) {
  RandomStream random(11, Purpose::kTest);
  GramIteration iteration;
  Stack after(12, 3);
  Stack deficient = gaussian(12, 3, random);
  deficient.col(2) = deficient.col(0);
  EXPECT_FALSE(retract(deficient, after, iteration).converged);
  Stack zero = Stack::Zero(12, 3);
  EXPECT_FALSE(retract(zero, after, iteration).converged);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200}) {
    Stack z = Stack::Identity(12, 3);
    z(5, 1) = bad;
    EXPECT_FALSE(retract(z, after, iteration).converged) << bad;
  }
  Stack good = feasible(12, 3, random);
  const Stack start = good;
  const RetractionReport report = retract(good, after, iteration);
  EXPECT_TRUE(report.converged) << "what went before leaves no traces";
  EXPECT_EQ(report.iterations, 0);
  EXPECT_TRUE(after == start) << "feasible comes back untouched";
}

/// Rounding in Γ†Γ grows with n; at these sizes it is still far below the tolerance.
TEST(Retraction, LargeLatentDimensions) {
  RandomStream random(9, Purpose::kTest);
  for (const Index n : {16, 32, 64, 128}) {
    const Stack gamma = feasible(2 * n, n, random);
    const Stack z = gamma - 0.5 * newton_schulz_literal(gaussian(2 * n, n, random));
    const Retraction got = retract(z);
    EXPECT_TRUE(got.converged) << n << ": " << got.residual;
    EXPECT_LE(naive_residual(got.gamma), 1.1 * kRetractionTolerance);
  }
}

TEST(Retraction, InPlaceOfLargeLatentDimensions) {
  RandomStream random(12, Purpose::kTest);
  GramIteration iteration;
  for (const Index n : {64, 128, 256}) {
    const Stack gamma = feasible(2 * n, n, random);
    Stack moved = gamma - 0.02 * newton_schulz_literal(gaussian(2 * n, n, random));
    Stack after(2 * n, n);
    EXPECT_TRUE(retract(moved, after, iteration).converged) << n;
    EXPECT_LE(naive_residual(after), kRetractionTolerance) << n;
  }
}

}  // namespace
}  // namespace hqmm::detail
