// The reference engine: the adjoint pass as it is written down, scaled at every step.
//
//   forward    R_{t+1} = 𝒦_{y_t}(R_t)/p_t,  p_t = tr 𝒦_{y_t}(R_t)
//   backward   S = 0; for t from the end:
//              A = (S − tr(S R_{t+1}) I + λ[t ≥ b] I)/p_t
//              ∇K[y_t][q] −= 2 A K R_t;  S ← Σ_q K† A K
//
// λ is the sequence's weight in the loss. A missing symbol sums over all operators and scores
// nothing. Every faster engine is tested against this.
#pragma once

#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

/// One sequence. Throws NotFiniteError (sequence 0) when a step's weight is zero or not finite, or
/// so small that the gradient overflows.
[[nodiscard]] BatchGradient reference_gradient(const Hqmm& model, const SequenceView& sequence,
                                               const GradientOptions& options);

/// A batch, one sequence at a time, summed along a fixed tree.
[[nodiscard]] BatchGradient reference_gradient(const Hqmm& model,
                                               std::span<const SequenceView> batch,
                                               const GradientOptions& options, int threads);

}  // namespace hqmm::detail
