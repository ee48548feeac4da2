#include "hqmm/stiefel/newton_schulz.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "hqmm/stiefel/gram.hpp"
#include "hqmm/stiefel/planes.hpp"

namespace hqmm {
namespace {

/// P(H) = aI + bH + cH²
struct Polynomial {
  double a, b, c;
};
constexpr Polynomial kLiteral{3.4445, -4.7750, 2.0315};
constexpr Polynomial kConvergent{15.0 / 8.0, -10.0 / 8.0, 3.0 / 8.0};

/// Singular values grow by at most 15/8 a step, so over this many the rounding of H grows by no
/// more than 2e4 before the tall matrix is brought up to date: the polar factor loses digits as the
/// condition number of Z, not as its square. No ordinary step of an optimiser needs more than
/// these.
constexpr int kStepsPerRound = 8;
/// One step takes ‖H − I‖_F = e to (5/8)e³: from here to below 1e-13.
constexpr double kLastStepFrom = 5e-5;
/// A row sum bounds the largest eigenvalue of H, whose limit is 7/3.
constexpr double kLargestRowSum = 2.2;
constexpr double kSmallestRowSum = 0.5;
constexpr double kRowSumAfterScaling = 1.3;

/// The pair (Q, H) of an iteration that began with Q = √scale·I and Gram matrix H/scale. All its
/// matrices are polynomials of one Hermitian matrix: they commute, and so their products are
/// Hermitian.
class GramIteration {
 public:
  GramIteration(Planes h, double scale)
      : h_(std::move(h)), p_(h_.rows(), h_.rows()), q_(p_), spare_(p_) {
    for (double& x : h_.values()) x *= scale;
    for (Index i = 0; i < q_.rows(); ++i) q_.re()[i * (q_.stride() + 1)] = std::sqrt(scale);
  }

  [[nodiscard]] double residual() const { return distance_from_identity(h_); }
  [[nodiscard]] const Planes& factor() const { return q_; }

  /// Q ← QP(H)
  void advance_factor(const Polynomial& polynomial) {
    multiply_hermitian(h_, h_, spare_);
    for (std::size_t i = 0; i < p_.values().size(); ++i) {
      p_.values()[i] = polynomial.b * h_.values()[i] + polynomial.c * spare_.values()[i];
    }
    for (Index i = 0; i < p_.rows(); ++i) p_.re()[i * (p_.stride() + 1)] += polynomial.a;
    multiply_hermitian(q_, p_, spare_);
    std::swap(q_, spare_);
  }

  /// H ← PHP, after advance_factor.
  void advance_gram() {
    multiply_hermitian(p_, h_, spare_);
    multiply_hermitian(spare_, p_, h_);
  }

 private:
  Planes h_, p_, q_, spare_;
};

/// The factor that puts H's spectrum inside the basin of 1; 1 when it is there already.
double basin_scale(const Planes& h) {
  double largest = 0.0;
  for (Index i = 0; i < h.rows(); ++i) {
    double sum = 0.0;
    for (Index j = 0; j < h.cols(); ++j) {
      const Index at = i * h.stride() + j;
      sum += std::sqrt(h.re()[at] * h.re()[at] + h.im()[at] * h.im()[at]);
    }
    largest = std::max(largest, sum);
  }
  const bool inside = largest >= kSmallestRowSum && largest <= kLargestRowSum;
  return inside ? 1.0 : kRowSumAfterScaling / largest;
}

/// Up to `budget` convergent steps; returns how many were taken.
int run_round(GramIteration& iteration, int budget) {
  for (int step = 1;; ++step) {
    const bool last = step == budget || iteration.residual() < kLastStepFrom;
    iteration.advance_factor(kConvergent);
    if (last) return step;
    iteration.advance_gram();
  }
}

/// Near the manifold a step that does not help means that rounding is all that is left.
bool stalled(double residual, double before) { return before < 1e-6 && residual > 0.5 * before; }

}  // namespace

Stack newton_schulz_literal(const Stack& z, int steps) {
  assert(steps >= 0);
  if (z.rows() < z.cols()) return newton_schulz_literal(z.adjoint(), steps).adjoint();
  const double squared_norm = z.squaredNorm();
  if (!has_safe_squares(squared_norm)) {
    if (!z.allFinite() || is_zero(z)) return z;
    return newton_schulz_literal(safe_scale(z) * z, steps);
  }
  const Planes tall(z);
  Planes h(z.cols(), z.cols());
  gram(tall, h);
  GramIteration iteration(std::move(h), 1.0 / squared_norm);
  for (int step = 0; step < steps; ++step) {
    if (step > 0) iteration.advance_gram();
    iteration.advance_factor(kLiteral);
  }
  Planes out(z.rows(), z.cols());
  multiply(tall, iteration.factor(), out);
  return out.to_stack();
}

Retraction retract(const Stack& z, double tolerance, int max_iterations) {
  Retraction out{.gamma = z};
  const bool safe = has_safe_squares(z.squaredNorm());
  if (!safe && z.allFinite() && !is_zero(z)) out.gamma *= safe_scale(z);
  Planes gamma(out.gamma);
  Planes h(z.cols(), z.cols());
  Planes moved(z.rows(), z.cols());
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    gram(gamma, h);
    out.residual = distance_from_identity(h);
    out.converged = out.residual <= tolerance;
    const bool hopeless = !std::isfinite(out.residual) || is_zero(z);
    if (out.converged || hopeless || out.iterations >= max_iterations ||
        stalled(out.residual, before)) {
      break;
    }
    before = out.residual;
    GramIteration iteration(h, out.iterations == 0 ? basin_scale(h) : 1.0);
    out.iterations +=
        run_round(iteration, std::min(kStepsPerRound, max_iterations - out.iterations));
    multiply(gamma, iteration.factor(), moved);
    std::swap(gamma, moved);
  }
  if (out.iterations > 0) out.gamma = gamma.to_stack();
  return out;
}

}  // namespace hqmm
