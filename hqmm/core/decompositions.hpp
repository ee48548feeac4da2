// Matrix decompositions as functions. Eigen's are templates that take seconds to compile: they
// are compiled here, once, and nowhere else.
#pragma once

#include <optional>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// A = V diag(values) V†, the values ascending. Only the lower triangle of A is read.
struct HermitianEigen {
  RealVector values;
  Matrix vectors;
};
[[nodiscard]] HermitianEigen hermitian_eigen(const Matrix& a);
/// The same without the vectors.
[[nodiscard]] RealVector hermitian_eigenvalues(const Matrix& a);

/// All eigenvalues of a real square matrix, in no particular order; nothing when the iteration does
/// not converge.
[[nodiscard]] std::optional<std::vector<Complex>> eigenvalues(const RealMatrix& a);

/// A = QR with as many columns in Q as in A.
struct ThinQr {
  Matrix q;
  Vector r_diagonal;
};
[[nodiscard]] ThinQr thin_qr(const Matrix& a);

/// A = QR with a square Q, by Householder's reflections.
struct FullQr {
  Matrix q;
  Matrix r;  // of the shape of A, upper triangular
};
[[nodiscard]] FullQr full_qr(const Matrix& a);

/// A = U diag(values) V†, U and V square, the values descending.
struct FullSvd {
  Matrix u;
  RealVector values;
  Matrix v;
};
[[nodiscard]] FullSvd full_svd(const Matrix& a);

/// A = V diag(values) V† of a normal matrix, by its Schur form: V is unitary to rounding even where
/// eigenvalues are equal.
struct NormalEigen {
  Vector values;
  Matrix vectors;
};
[[nodiscard]] NormalEigen normal_eigen(const Matrix& a);

/// X of AX = B, by LU with partial pivoting.
[[nodiscard]] Matrix solve(const Matrix& a, const Matrix& b);

/// The unitary factor UV† of A = UΣV†, which has the shape of A.
[[nodiscard]] Matrix svd_unitary_factor(const Matrix& a);
/// How many rows are linearly independent, by pivoted QR: pivots below `tolerance` times the
/// largest count as zero.
[[nodiscard]] Index numerical_rank(const Matrix& a, double tolerance);
/// Descending.
[[nodiscard]] RealVector singular_values(const Matrix& a);

}  // namespace hqmm::detail
