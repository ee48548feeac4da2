// The factor form: kraus rank one, ρ = AA† with A of r columns, r the rank of the initial state.
//
//   A ← K[y] A,  log-likelihood log ‖A‖²,  ∂ℓ/∂K[y] = Σ B A†  with B the adjoint of A
//
// No missing symbols: their channel has more than one operator.
#pragma once

#include "hqmm/engine/chain/linear_form.hpp"
#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

/// A of an initial state, and what is needed to get back: ρ₀ = V diag(λ) V†, A = V diag(√λ) over
/// the eigenvalues above rounding.
struct StateFactor {
  Matrix vectors;  // n × r, largest eigenvalue first
  RealVector roots;
};
[[nodiscard]] StateFactor factor_initial_state(const Hqmm& model);

/// The base operators of a model's form; room for its program's words.
void write_factor_form(const Hqmm& model, const Program& program, const StateFactor& state,
                       bool feasible, NormForm& form);

/// ∂loss/∂Γ from ∂ℓ by every base operator, words chained, and by the initial state when it is
/// wanted: a Hermitian H with H A = (∂loss/∂ρ₀) A, which is all that a rank-deficient factor can
/// tell and all that a learner needs.
void factor_gradient(const Hqmm& model, const NormForm& form, const StateFactor& state,
                     const GradientTable& table, const std::vector<double>& initial,
                     BatchGradient& out);

}  // namespace hqmm::detail
