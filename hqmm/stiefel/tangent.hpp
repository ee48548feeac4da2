// The tangent space of the Stiefel manifold St = {Γ : Γ†Γ = I}, Γ: p × n, under ⟨A,B⟩ = Re tr(A†B).
//
//   T_Γ St  = {X : X†Γ + Γ†X = 0}
//   P_Γ(G)  = G − ½ Γ (G†Γ + Γ†G)
#pragma once

#include "hqmm/core/types.hpp"
#include "hqmm/stiefel/square.hpp"

namespace hqmm::detail {

/// P_Γ(G): the orthogonal projection onto the tangent space when Γ is feasible, and the same
/// formula (no projection any more) when it is not, as the paper's algorithm needs it.
[[nodiscard]] Stack project_tangent(const Stack& gamma, const Stack& g);

/// M ← past·M + present·P_Γ(G). `cross` is n × n memory to work with.
void blend_tangent(const Stack& gamma, const Stack& g, double past, double present, Stack& m,
                   const Square& cross);

/// ‖Γ†Γ − I‖_F
[[nodiscard]] double feasibility_residual(const Stack& gamma);

}  // namespace hqmm::detail
