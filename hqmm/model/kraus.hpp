// KrausSet: the operators K[y][q] of one step, stacked into Γ.
//
//   Γ = (K[0][0]; K[0][1]; …; K[s−1][w−1])   (s·w·n) × n, y-major, q-minor, row-major in memory
//   𝒦_y(ρ) = Σ_q K[y][q] ρ K[y][q]†          unnormalised state after symbol y
//   trace preserving ⇔ Γ†Γ = I
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm {

/// A set whose ‖Γ†Γ − I‖_F is at most this is called feasible: its probabilities sum to 1 as
/// printed.
inline constexpr double kFeasibleTolerance = 1e-9;

class KrausSet {
 public:
  KrausSet() = default;
  /// All zeros. Sizes must be positive.
  KrausSet(Index alphabet_size, Index kraus_rank, Index latent_dim);
  /// From a stack of (alphabet_size · kraus_rank · n) rows and n columns.
  KrausSet(Index alphabet_size, Index kraus_rank, Stack gamma);

  [[nodiscard]] Index alphabet_size() const noexcept { return s_; }
  [[nodiscard]] Index kraus_rank() const noexcept { return w_; }
  [[nodiscard]] Index latent_dim() const noexcept { return gamma_.cols(); }

  [[nodiscard]] const Stack& gamma() const noexcept { return gamma_; }
  [[nodiscard]] Stack& gamma() noexcept { return gamma_; }
  /// K[y][q] as an n × n block of Γ.
  [[nodiscard]] auto op(Index y, Index q) const {
    return gamma_.middleRows((y * w_ + q) * latent_dim(), latent_dim());
  }
  [[nodiscard]] auto op(Index y, Index q) {
    return gamma_.middleRows((y * w_ + q) * latent_dim(), latent_dim());
  }
  /// The w operators of y, stacked.
  [[nodiscard]] auto ops(Index y) const {
    return gamma_.middleRows(y * w_ * latent_dim(), w_ * latent_dim());
  }

  /// 𝒦_y(ρ)
  [[nodiscard]] Matrix apply(Index y, const Matrix& rho) const;
  /// Σ_y 𝒦_y(ρ): the step with its symbol unseen.
  [[nodiscard]] Matrix apply_total(const Matrix& rho) const;
  /// E_y = Σ_q K[y][q]† K[y][q], so that tr 𝒦_y(ρ) = tr(E_y ρ).
  [[nodiscard]] Matrix effect(Index y) const;
  /// ‖Γ†Γ − I‖_F
  [[nodiscard]] double feasibility_residual() const;

 private:
  Index s_ = 0;
  Index w_ = 0;
  Stack gamma_;
};

}  // namespace hqmm
