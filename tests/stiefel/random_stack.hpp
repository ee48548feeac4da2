// Random stacks for the tests of this layer: Gaussian, Haar, and with given singular values.
#pragma once

#include <Eigen/QR>
#include <Eigen/SVD>

#include "hqmm/core/random.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/stiefel/square.hpp"

namespace hqmm::testing {

inline Stack gaussian(Index rows, Index cols, RandomStream& random) {
  Stack z(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double re = random.normal();
      z(i, j) = {re, random.normal()};
    }
  }
  return z;
}

/// Orthonormal columns; rows ≥ cols. (Up to column phases Haar: enough here.)
inline Stack feasible(Index rows, Index cols, RandomStream& random) {
  const Eigen::HouseholderQR<Matrix> qr{Matrix(gaussian(rows, cols, random))};
  return qr.householderQ() * Matrix::Identity(rows, cols);
}

/// U diag(values) V† with random U and V; rows ≥ values.size() columns.
inline Stack with_singular_values(Index rows, const RealVector& values, RandomStream& random) {
  const Stack u = feasible(rows, values.size(), random);
  const Stack v = feasible(values.size(), values.size(), random);
  return u * values.cast<Complex>().asDiagonal() * v.adjoint();
}

/// U diag(values) U† with a random U.
inline Matrix hermitian(const RealVector& values, RandomStream& random) {
  const Matrix u = feasible(values.size(), values.size(), random);
  const Matrix h = u * values.cast<Complex>().asDiagonal() * u.adjoint();
  return 0.5 * (h + h.adjoint());
}

inline void fill(const Square& to, const Matrix& from) {
  for (Index i = 0; i < to.size(); ++i)
    for (Index j = 0; j < to.size(); ++j) to.set(i, j, from(i, j));
}

inline RealVector singular_values(const Stack& z) {
  return Eigen::JacobiSVD<Matrix>(z).singularValues();
}

inline double distance(const Stack& a, const Stack& b) { return (a - b).cwiseAbs().maxCoeff(); }

}  // namespace hqmm::testing
