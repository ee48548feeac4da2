// COSM: constrained optimisation on the Stiefel manifold (Adhikary et al. 2020), the paper's
// baseline.
//
//   minimise F(Γ) = −Σ log P(x)   over Γ†Γ = I,   from the gradient G of a mini-batch:
//
//   G ← G/‖G‖₂                         over its spectral norm
//   M ← βM + (1−β)G, then M/‖M‖₂       momentum, from zero in every epoch
//   Γ ← Γ − ηU(I + (η/2)V†U)⁻¹V†Γ      Cayley retraction, U = [M Γ], V = [Γ −M]
//
// For one column the Cayley map is a rotation in the plane of c and M.
//
// Options and defaults:
//
//   step_size   0.2  η; falls along a cosine; the preset "paper" has the published ones
//   momentum    0.9  β, the weight of the past in M
//   batch_size  4    chunks in a mini-batch; 20 in the preset "paper"
//   epochs      60   passes over the data
#pragma once

#include <memory>

#include "hqmm/learn/options.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

[[nodiscard]] std::unique_ptr<UpdateRule> make_cosm(const TrainOptions& options);

}  // namespace hqmm::detail
