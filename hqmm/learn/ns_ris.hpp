// NS-RIS: Newton–Schulz retraction-based inference on the Stiefel manifold.
//
//   minimise F(Γ) = −Σ log P(x)   over Γ†Γ = I,   from the gradient G of a mini-batch:
//
//   G_R = G − ½Γ(G†Γ + Γ†G)            tangent projection
//   M ← βM + (1−β)G_R                  momentum, zero at first
//   D ≈ Polar(M)                       T literal Newton–Schulz steps
//   Γ₊ = retraction of Γ − ηD          feasible: convergent Newton–Schulz, Γ†Γ = I to 1e-12
//                                      literal: the map of D again, which leaves the manifold
//
// For one column, as in C and in the initial state, Polar(M) is M/‖M‖ and the retraction divides by
// the length. A feasible step whose Γ − ηD is rank deficient is halved until it is not.
//
// Options and defaults:
//
//   step_size      0.2       η; falls to 0 along a cosine: schedule, step_decay
//   emission_step  0.2       η of C, for emission on states
//   momentum       0.9       β, the weight of the past in M
//   ns_steps       5         T, of the direction and of the literal retraction
//   retraction     feasible  or literal, the paper's own
//   batch_size     4         chunks in a mini-batch
//   epochs         60        passes over the data
//   average        0.98      weight of the past in the mean of Γ that is scored
//
// Each step takes the same direction whatever the size of the gradient: η alone says how far.
#pragma once

#include <memory>

#include "hqmm/learn/options.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

[[nodiscard]] std::unique_ptr<UpdateRule> make_ns_ris(const TrainOptions& options);

}  // namespace hqmm::detail
