// ρ ↦ Σ_y 𝒦_y(ρ) for large n: never as a matrix, by the kernels of the engines.
#pragma once

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/model/kraus.hpp"

namespace hqmm::detail {

class TotalChannel {
 public:
  explicit TotalChannel(const KrausSet& set);
  [[nodiscard]] Index latent_dim() const { return n_; }
  [[nodiscard]] Matrix apply(const Matrix& hermitian) const;

 private:
  void move(const double* k) const;
  void add_lower_part(const double* k) const;

  Index n_, stride_, operators_;
  PanelKernel kernel_;
  AlignedDoubles matrices_;  // the real form of every K, or V on states
  RealMatrix factors_;       // of entries, on states: Σ_y D_y σ D_y; else empty
  mutable AlignedDoubles state_, moved_, sum_;  // scratch
};

}  // namespace hqmm::detail
