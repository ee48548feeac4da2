// KrausSet: the operators K[y][q] of one step, and how they are made.
//
//   𝒦_y(ρ) = Σ_q K[y][q] ρ K[y][q]†          unnormalised state after symbol y
//
//   emission on edges    every K[y][q] is free; they are stacked into Γ
//                        Γ = (K[0][0]; K[0][1]; …; K[s−1][w−1])   (s·w·n) × n, y-major, q-minor
//                        trace preserving ⇔ Γ†Γ = I
//   emission on states   K[y][q] = D_y V_q,  D_y = diag(c_y),  w operators V_q for all symbols
//                        V = (V_0; …; V_{w−1})   (w·n) × n,   C = (c_0; …; c_{s−1})   s × n, real
//                        trace preserving ⇐ V†V = I and columns of C of length one
//
// A set holds Γ, or V and C, but never operators that follow from them.
#pragma once

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"

namespace HQMM_API hqmm {

/// A set whose distance from the constraints is at most this is called feasible: its probabilities
/// sum to 1 as printed.
inline constexpr double kFeasibleTolerance = 1e-9;

enum class EmissionKind {
  kState,  // of the new state
  kEdge,   // of the move
};

enum class Field {
  kComplex,
  kReal,  // all operators and states are real: imaginary parts are exactly zero
};

/// A plain value: any number of threads may read it at a time.
class KrausSet {
 public:
  KrausSet() = default;
  /// On edges, all zeros. Sizes must be positive.
  KrausSet(Index alphabet_size, Index kraus_rank, Index latent_dim);
  /// On edges, from a stack of (alphabet_size · kraus_rank · n) rows and n columns.
  KrausSet(Index alphabet_size, Index kraus_rank, Stack gamma);
  /// On states, from V of (kraus_rank · n) rows and n columns, and C of n columns.
  KrausSet(Stack transition, RealMatrix emission);

  [[nodiscard]] EmissionKind emits_on() const noexcept { return emits_on_; }
  [[nodiscard]] Index alphabet_size() const noexcept { return s_; }
  [[nodiscard]] Index kraus_rank() const noexcept { return w_; }
  [[nodiscard]] Index latent_dim() const noexcept { return stack_.cols(); }

  /// What is stored and lies on a Stiefel manifold: Γ, or V.
  [[nodiscard]] const Stack& stack() const noexcept { return stack_; }
  [[nodiscard]] Stack& stack() noexcept { return stack_; }

  // On edges only; a set that emits on states throws std::logic_error: see expanded().
  [[nodiscard]] const Stack& gamma() const {
    require(EmissionKind::kEdge);
    return stack_;
  }
  [[nodiscard]] Stack& gamma() {
    require(EmissionKind::kEdge);
    return stack_;
  }
  /// K[y][q] as an n × n block of Γ.
  [[nodiscard]] auto op(Index y, Index q) const {
    return gamma().middleRows((y * w_ + q) * latent_dim(), latent_dim());
  }
  [[nodiscard]] auto op(Index y, Index q) {
    return gamma().middleRows((y * w_ + q) * latent_dim(), latent_dim());
  }
  /// The w operators of y, stacked.
  [[nodiscard]] auto ops(Index y) const {
    return gamma().middleRows(y * w_ * latent_dim(), w_ * latent_dim());
  }

  // On states only; a set that emits on edges throws std::logic_error.
  /// V
  [[nodiscard]] const Stack& transition() const {
    require(EmissionKind::kState);
    return stack_;
  }
  /// C
  [[nodiscard]] const RealMatrix& emission() const {
    require(EmissionKind::kState);
    return emission_;
  }
  [[nodiscard]] RealMatrix& emission() {
    require(EmissionKind::kState);
    return emission_;
  }

  /// The same operators, free: a set that emits on edges.
  [[nodiscard]] KrausSet expanded() const;

  /// 𝒦_y(ρ)
  [[nodiscard]] Matrix apply(Index y, const Matrix& rho) const;
  /// Σ_y 𝒦_y(ρ): the step if the symbol is not seen.
  [[nodiscard]] Matrix apply_total(const Matrix& rho) const;
  /// The step after seeing a symbol, one of a set (symbol_sets.hpp), or nothing (kMissing).
  [[nodiscard]] Matrix apply_seen(Symbol symbol, const Matrix& rho) const;
  [[nodiscard]] Matrix apply_seen_adjoint(Symbol symbol, const Matrix& effect) const;
  /// The adjoint maps: tr(E 𝒦_y(ρ)) = tr(𝒦_y†(E) ρ), 𝒦_y†(E) = Σ_q K[y][q]† E K[y][q].
  [[nodiscard]] Matrix apply_adjoint(Index y, const Matrix& effect) const;
  [[nodiscard]] Matrix apply_total_adjoint(const Matrix& effect) const;
  /// E_y = Σ_q K[y][q]† K[y][q], so that tr 𝒦_y(ρ) = tr(E_y ρ).
  [[nodiscard]] Matrix effect(Index y) const;
  /// Σ_y E_y, which is I for a trace-preserving set.
  [[nodiscard]] Matrix gram() const;
  /// ‖Γ†Γ − I‖_F; on states √(‖V†V − I‖² + Σ_i (|c_i|² − 1)²), c_i the columns of C.
  [[nodiscard]] double feasibility_residual() const;
  [[nodiscard]] bool all_finite() const { return stack_.allFinite() && emission_.allFinite(); }

 private:
  void require(EmissionKind kind) const {
    if (emits_on_ != kind) throw_misuse();
  }
  [[noreturn]] void throw_misuse() const;
  /// Σ_q B_q ρ B_q† and Σ_q B_q† E B_q over w blocks B_q of the stack.
  [[nodiscard]] Matrix conjugate(Index first_block, const Matrix& rho) const;
  [[nodiscard]] Matrix conjugate_adjoint(Index first_block, const Matrix& effect) const;
  /// CᵀC: Σ_y D_y σ D_y scales the entries of σ by its own.
  [[nodiscard]] Matrix unseen_factors() const;

  EmissionKind emits_on_ = EmissionKind::kEdge;
  Index s_ = 0;
  Index w_ = 0;
  Stack stack_;
  RealMatrix emission_;  // s × n; empty on edges
};

}  // namespace hqmm
