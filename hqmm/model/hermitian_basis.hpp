// Hermitian matrices as real vectors: coordinates in an orthonormal basis of the n² dimensional
// real space with ⟨A,B⟩ = tr(AB). A channel becomes a real n² × n² matrix.
//
//   coordinates: n diagonal entries, then √2·Re and √2·Im of each entry above the diagonal, row by
//   row
#pragma once

#include "hqmm/core/types.hpp"
#include "hqmm/model/kraus.hpp"

namespace hqmm {

[[nodiscard]] RealVector to_coordinates(const Matrix& hermitian);
[[nodiscard]] Matrix from_coordinates(const RealVector& coordinates);
/// ρ ↦ Σ_y 𝒦_y(ρ) in coordinates, n² × n².
[[nodiscard]] RealMatrix total_channel_matrix(const KrausSet& set);

}  // namespace hqmm
