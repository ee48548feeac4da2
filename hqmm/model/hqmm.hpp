// Hqmm: a hidden quantum Markov model.
//
//   ρ₀ the initial state, n × n;  P(y | ρ) = tr 𝒦_y(ρ);  next state 𝒦_y(ρ) / P
//
// The numbers are probabilities iff every Kraus set is trace preserving. Other models are
// still values of this type (the paper's own algorithm produces them); scoring then normalises
// and says so.
#pragma once

#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/alphabet.hpp"
#include "hqmm/model/kraus.hpp"
#include "hqmm/model/position_map.hpp"

namespace HQMM_API hqmm {

struct Hqmm {
  Alphabet alphabet;
  std::vector<KrausSet> sets;  // one, or one per value of the position map
  PositionMap positions;
  Matrix initial_state;  // n × n density matrix
  Field field = Field::kComplex;

  [[nodiscard]] Index latent_dim() const { return sets.front().latent_dim(); }
  [[nodiscard]] Index kraus_rank() const { return sets.front().kraus_rank(); }
  [[nodiscard]] Index alphabet_size() const { return sets.front().alphabet_size(); }
  [[nodiscard]] EmissionKind emits_on() const { return sets.front().emits_on(); }
};

/// A model with one Kraus set for all positions.
[[nodiscard]] Hqmm stationary_hqmm(Alphabet alphabet, KrausSet set, Matrix initial_state,
                                   Field field = Field::kComplex);
/// The same process with free operators of the same field.
[[nodiscard]] Hqmm expanded(const Hqmm& model);

/// I/n
[[nodiscard]] Matrix maximally_mixed(Index n);

/// The largest distance from the constraints over the sets: ‖Γ†Γ − I‖_F, see KrausSet.
[[nodiscard]] double feasibility_residual(const Hqmm& model);
[[nodiscard]] bool is_feasible(const Hqmm& model);

/// Throws kBadData naming what is wrong and by how much: shapes that do not match, sets of
/// different structure, entries that are not finite, imaginary parts in a real model, an initial
/// state that is not Hermitian, of trace one and positive semidefinite (all to 1e-9). Infeasible
/// Kraus sets pass: see feasibility_residual.
void require_valid(const Hqmm& model);

}  // namespace hqmm
