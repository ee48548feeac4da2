// Newton–Schulz iterations: odd polynomials of Z that drive its singular values towards 1 and leave
// its singular vectors alone, so that Z approaches its polar factor Z(Z†Z)^{-1/2}.
//
//   literal     Z ← Z/‖Z‖_F, then Z ← aZ + Z(bH + cH²), H = Z†Z,
//               (a,b,c) = (3.4445, −4.7750, 2.0315)
//   convergent  Z ← Z(15I − 10H + 3H²)/8, and in the last step a polynomial of higher degree
//
// The literal polynomial is fast away from 1 and has no attracting fixed point there: singular
// values end anywhere in [0.68, 1.14]. It serves as a direction; as a retraction it leaves the
// manifold. The convergent one has the fixed point 1, with cubic convergence, for all singular
// values in (0, √(7/3)), is increasing and positive there, and is what keeps a model feasible.
//
// Both iterate on n × n matrices (gram_iteration.hpp) and touch the tall matrix only as ZQ at the
// end.
#pragma once

#include <optional>

#include "hqmm/core/types.hpp"
#include "hqmm/stiefel/gram_iteration.hpp"

namespace hqmm::detail {

/// The paper's map, `steps` times. Works on Z† when Z is wide. Zero gives zero (no gradient, no
/// direction); a non-finite Z comes back as it is, for the caller to notice.
[[nodiscard]] Stack newton_schulz_literal(const Stack& z, int steps = 5);

/// The same for a Z with at least as many rows as columns, as s and Q with D = s·ZQ: Q is the
/// factor of `iteration`, s is returned. Nothing when ‖Z‖² is zero, not finite, or so large or
/// small that squares are not to be trusted.
[[nodiscard]] std::optional<double> literal_factor(const Stack& z, int steps,
                                                   GramIteration& iteration);

struct RetractionReport {
  int iterations = 0;     // polynomial steps taken
  double residual = 0.0;  // ‖Γ†Γ − I‖_F
  bool converged = false;
};

struct Retraction : RetractionReport {  // its residual is recomputed from this gamma
  Stack gamma;                          // the polar factor of Z, when converged
};

inline constexpr double kRetractionTolerance = 1e-12;
/// Enough for a smallest singular value of 1e-6 times the largest; ordinary steps take 2 or 3.
inline constexpr int kRetractionIterations = 30;

/// The nearest point of the Stiefel manifold, Z(Z†Z)^{-1/2}, without a decomposition. Never throws.
/// Not converged: Z is rank deficient (or wide, or closer to it than the iterations reach), or not
/// finite, or so large (n in the thousands) that rounding in Γ†Γ exceeds the tolerance. Callers
/// check.
[[nodiscard]] Retraction retract(const Stack& z, double tolerance = kRetractionTolerance,
                                 int max_iterations = kRetractionIterations);

/// The same into `gamma`, of the shape of z, in memory that is used again; z is lost. Where theory
/// leaves no doubt of feasibility to kRetractionTolerance it is not measured again, and the
/// residual is what theory says.
[[nodiscard]] RetractionReport retract(Stack& z, Stack& gamma, GramIteration& iteration);

}  // namespace hqmm::detail
