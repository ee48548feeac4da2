// Hermitian matrices as real vectors: coordinates in an orthonormal basis of the n² dimensional
// real space with ⟨A,B⟩ = tr(AB). A channel becomes a real n² × n² matrix.
//
//   coordinates of H: the n diagonal entries, then √2·Re H_ab for a < b row by row, then √2·Im H_ab
//
// Real and imaginary parts are separate blocks, so that the kernels of engine/ read and write
// stretches of each.
#pragma once

#include "hqmm/core/types.hpp"
#include "hqmm/model/kraus.hpp"

namespace hqmm::detail {

/// Where the parts of H_ab, a < b, stand among the coordinates.
class HermitianCoordinates {
 public:
  explicit HermitianCoordinates(Index n) : n_(n), pairs_(n * (n - 1) / 2) {}
  [[nodiscard]] Index re(Index a, Index b) const {
    return n_ + a * (2 * n_ - a - 1) / 2 + b - a - 1;
  }
  [[nodiscard]] Index im(Index a, Index b) const { return re(a, b) + pairs_; }

 private:
  Index n_, pairs_;
};

/// Of the Hermitian part, so that rounding on one side of the diagonal is not taken for more.
[[nodiscard]] RealVector to_coordinates(const Matrix& hermitian);
[[nodiscard]] Matrix from_coordinates(const Eigen::Ref<const RealVector>& coordinates);
/// ρ ↦ Σ_y 𝒦_y(ρ) in coordinates, n² × n².
[[nodiscard]] RealMatrix total_channel_matrix(const KrausSet& set);

}  // namespace hqmm::detail
