#include "hqmm/stiefel/newton_schulz.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "hqmm/stiefel/gram.hpp"
#include "hqmm/stiefel/products.hpp"

namespace hqmm::detail {
namespace {

/// Singular values grow by at most 15/8 a step, so over this many the rounding of H grows by no
/// more than 2e4 before the tall matrix is brought up to date: the polar factor loses digits as the
/// condition number of Z, not as its square. No ordinary step of an optimiser needs more than
/// these.
constexpr int kStepsPerRound = 8;
/// A row sum bounds the largest eigenvalue of H, whose limit is 7/3.
constexpr double kLargestRowSum = 2.2;
constexpr double kSmallestRowSum = 0.5;
constexpr double kRowSumAfterScaling = 1.3;
/// With ‖cH − I‖_F up to here the eigenvalues of cH are at least 0.1, and the rounding of H grows
/// by a factor of no more than 10 on the way to I.
constexpr double kBenign = 0.9;
/// Up to this n that rounding is well below the tolerance.
constexpr Index kBenignSize = 256;
constexpr double kResidualByTheory = 2e-13;

struct Scale {
  double c = 1.0;
  bool benign = false;
};

/// The factor that puts H's spectrum inside the basin of 1; around 1 if that is possible.
Scale basin_scale(const Square& h, const GramNorms& norms) {
  const auto n = static_cast<double>(h.size());
  const double c = norms.trace / norms.squares;  // makes ‖cH − I‖_F least
  const double least = n - c * norms.trace;      // its square
  if (least < kBenign * kBenign) return {c, h.size() <= kBenignSize};
  double largest = 0.0;
  for (Index i = 0; i < h.size(); ++i) {
    double sum = 0.0;
    for (Index j = 0; j < h.size(); ++j) sum += std::sqrt(std::norm(h(i, j)));
    largest = std::max(largest, sum);
  }
  const bool inside = largest >= kSmallestRowSum && largest <= kLargestRowSum;
  return {inside ? 1.0 : kRowSumAfterScaling / largest, false};
}

/// Near the manifold a step that does not help means that rounding is all that is left.
bool stalled(double residual, double before) { return before < 1e-6 && residual > 0.5 * before; }

/// Rounds of iterations on H, each followed by Γ ← ΓQ. Ends with the result in gamma.
RetractionReport run_rounds(Stack& z, Stack& gamma, GramIteration& iteration, double tolerance,
                            int max_iterations, bool measure) {
  RetractionReport out;
  Stack* from = &z;
  Stack* to = &gamma;
  double before = std::numeric_limits<double>::infinity();
  iteration.resize(z.cols());
  while (true) {
    gram(*from, iteration.gram());
    const GramNorms norms = iteration.norms();
    out.residual = norms.residual;
    out.converged = out.residual <= tolerance;
    const bool hopeless = !std::isfinite(out.residual) || norms.squares == 0.0;
    if (out.converged || hopeless || out.iterations >= max_iterations ||
        stalled(out.residual, before)) {
      break;
    }
    before = out.residual;
    const Scale scale = out.iterations == 0 ? basin_scale(iteration.gram(), norms) : Scale{};
    const int budget = std::min(kStepsPerRound, max_iterations - out.iterations);
    const GramIteration::Outcome round = iteration.run_convergent(scale.c, budget);
    out.iterations += round.steps;
    multiply(*from, iteration.factor(), *to, std::sqrt(scale.c));
    std::swap(from, to);
    if (!measure && scale.benign && round.finished) {
      out.residual = kResidualByTheory;
      out.converged = true;
      break;
    }
  }
  if (from != &gamma) gamma.swap(z);
  return out;
}

}  // namespace

std::optional<double> literal_factor(const Stack& z, int steps, GramIteration& iteration) {
  assert(z.rows() >= z.cols());
  iteration.resize(z.cols());
  gram(z, iteration.gram());
  double squared_norm = 0.0;
  for (Index i = 0; i < z.cols(); ++i) squared_norm += iteration.gram()(i, i).real();
  if (!has_safe_squares(squared_norm)) return std::nullopt;
  iteration.run_literal(1.0 / squared_norm, steps);
  return 1.0 / std::sqrt(squared_norm);
}

Stack newton_schulz_literal(const Stack& z, int steps) {
  if (z.rows() < z.cols()) return newton_schulz_literal(z.adjoint(), steps).adjoint();
  GramIteration iteration;
  if (const std::optional<double> s = literal_factor(z, steps, iteration)) {
    Stack out(z.rows(), z.cols());
    multiply(z, iteration.factor(), out, *s);
    return out;
  }
  if (!z.allFinite() || is_zero(z)) return z;
  return newton_schulz_literal(safe_scale(z) * z, steps);
}

Retraction retract(const Stack& z, double tolerance, int max_iterations) {
  Stack from = z;
  if (!has_safe_squares(z.squaredNorm()) && z.allFinite() && !is_zero(z)) from *= safe_scale(z);
  Retraction out;
  out.gamma.resize(z.rows(), z.cols());
  GramIteration iteration;
  static_cast<RetractionReport&>(out) =
      run_rounds(from, out.gamma, iteration, tolerance, max_iterations, true);
  return out;
}

RetractionReport retract(Stack& z, Stack& gamma, GramIteration& iteration) {
  return run_rounds(z, gamma, iteration, kRetractionTolerance, kRetractionIterations, false);
}

}  // namespace hqmm::detail
