// Every HMM of either type is an HQMM: two embeddings, both exact.
//
// With T_y = diag(C_y) A, or the edges as they are, and ρ₀ = diag(initial) the HQMM gives exactly
// the HMM's probabilities, w = n:
//   rank one   K[y][j] = v_{y,j}⟨j|,  (v_{y,j})_i = √(T_y)_ij      reads only the diagonal of ρ
//   cyclic     K[y][(i−j) mod n] has the entry (j, i) = √(T_y)_ji    full-rank operators, the start
//              for training: noise added to it leaves the subspace that the rank-one form is stuck
//              in
//
// An HMM that emits on its states is also an HQMM that does: V from A as K[y] from T_y above, and C
// the roots of the emission probabilities.
//
// All are real, but their field says complex; the caller may set it.
#pragma once

#include "hqmm/core/export.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hqmm.hpp"

namespace HQMM_API hqmm {

[[nodiscard]] Hqmm embed_rank_one(const Hmm& hmm, EmissionKind emission = EmissionKind::kEdge);
[[nodiscard]] Hqmm embed_cyclic(const Hmm& hmm, EmissionKind emission = EmissionKind::kEdge);
[[nodiscard]] Hqmm embed_rank_one(const EdgeHmm& hmm);
[[nodiscard]] Hqmm embed_cyclic(const EdgeHmm& hmm);

}  // namespace hqmm
