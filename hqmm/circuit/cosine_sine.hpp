// The cosine–sine decomposition of a matrix with orthonormal columns, cut into two halves:
//
//   X = [ A ]   =   [ L₀     ] [ C ] R         2m × p, p ≤ m; C and S are m × p, their diagonals
//       [ B ]       [     L₁ ] [ S ]           cos θ and sin θ; L₀, L₁ and R are unitary
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

struct CosineSine {
  Matrix left_0, left_1;  // m × m
  RealVector angles;      // θ, p of them, in [0, π/2]
  Matrix right;           // p × p
};
[[nodiscard]] CosineSine cosine_sine(const Matrix& columns);

}  // namespace hqmm::detail
