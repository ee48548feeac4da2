// The guard that keeps the Gram matrix H = Z†Z of a stack representable, and H for Eigen.
//
// Everything here that needs no decomposition works on H, n × n, instead of the tall Z, p × n.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// H = Z†Z, n × n, exactly Hermitian.
[[nodiscard]] Matrix gram(const Stack& z);

/// Whether every entry is 0. (Eigen's isZero(0) compares squares, and takes 1e-200 for 0.)
[[nodiscard]] inline bool is_zero(const Stack& z) { return (z.array() == Complex(0.0)).all(); }

/// Whether ‖Z‖²_F and its square, which bounds ‖H‖²_F, are far from overflow and underflow. False
/// for zero and for non-finite Z.
[[nodiscard]] inline bool has_safe_squares(double squared_norm) {
  return squared_norm > 1e-120 && squared_norm < 1e120;
}

/// A power of two c such that the squares of cZ neither overflow nor vanish; 1 unless the entries
/// of Z are of extreme size. Z must be finite and not zero.
[[nodiscard]] double safe_scale(const Stack& z);

}  // namespace hqmm::detail
