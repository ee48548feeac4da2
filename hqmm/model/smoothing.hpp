// Smoothing towards the total channel: no symbol is ever impossible, and nothing else changes.
//
//   𝒦_y ← (1−ε) 𝒦_y + (ε/s) Σ_z 𝒦_z
//
// The sum over the symbols, and with it Γ†Γ, stays what it was: the result is an HQMM as valid as
// the model it came from. As operators, of y:
//
//   √(1−ε+ε/s)·K[y][q] for every q, then √(ε/s)·K[z][q] for every z ≠ y and q        s·w of them
#pragma once

#include <vector>

#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hmm.hpp"
#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail {

/// Throws kUsage unless 0 ≤ ε ≤ 1.
void require_smoothing(double epsilon);

/// ε in [0, 1]; the model itself for ε = 0.
[[nodiscard]] Hqmm smoothed(const Hqmm& model, double epsilon);
/// The same of an HMM is one again: C ← (1−ε) C + ε/s.
[[nodiscard]] Hmm smoothed(const Hmm& model, double epsilon);
/// T_y ← (1−ε) T_y + (ε/s) Σ_z T_z
[[nodiscard]] EdgeHmm smoothed(const EdgeHmm& model, double epsilon);

/// ∂L/∂Γ of a set from ∂L by the Γ of the same set smoothed. `set` gives the sizes only.
[[nodiscard]] Stack pull_back_smoothing(const KrausSet& set, const Stack& gradient, double epsilon);

/// The same maps 𝒦_y of as few operators as they can have, n² at most: from the eigenvectors of
/// Σ_q vec K[y][q] vec K[y][q]†, polished to be as feasible as a retraction makes it. A feasible
/// model whose rank is n² or less already comes back as it is.
[[nodiscard]] Hqmm with_fewest_operators(const Hqmm& model);

}  // namespace hqmm::detail
