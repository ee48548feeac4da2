// Written down plainly: what is compared with a library's kernels should not come from one, and
// loops compile in no time.
#include "support/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace hqmm::detail::testing {
namespace {

/// A·V of orthogonal columns, V unitary, by rotations of two columns (one-sided Jacobi): the norms
/// of the columns are the singular values, and where A is positive, the columns are its
/// eigenvectors.
Matrix orthogonal_columns(Matrix a) {
  for (bool turned = true; turned;) {
    turned = false;
    for (Index p = 0; p < a.cols(); ++p) {
      for (Index q = p + 1; q < a.cols(); ++q) {
        const double alpha = a.col(p).squaredNorm();
        const double beta = a.col(q).squaredNorm();
        const Complex gamma = a.col(p).dot(a.col(q));
        const double size = std::abs(gamma);
        if (size <= 1e-15 * std::sqrt(alpha * beta) || size < 1e-300) continue;
        turned = true;
        const Complex phase = gamma / size;
        const double zeta = (beta - alpha) / (2.0 * size);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double c = 1.0 / std::hypot(1.0, t);
        for (Index i = 0; i < a.rows(); ++i) {
          const Complex x = a(i, p) * phase;
          const Complex y = a(i, q);
          a(i, p) = c * x - c * t * y;
          a(i, q) = c * t * x + c * y;
        }
      }
    }
  }
  return a;
}

RealVector column_norms(const Matrix& a) {
  RealVector out(a.cols());
  for (Index j = 0; j < a.cols(); ++j) out(j) = a.col(j).norm();
  return out;
}

}  // namespace

Stack gaussian(Index rows, Index cols, RandomStream& random) {
  Stack z(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double re = random.normal();
      z(i, j) = {re, random.normal()};
    }
  }
  return z;
}

Stack random_direction(Index rows, Index cols, RandomStream& random) {
  const Stack out = gaussian(rows, cols, random);
  return out / out.norm();
}

Stack feasible(Index rows, Index cols, RandomStream& random) {
  Matrix q = gaussian(rows, cols, random);
  for (Index j = 0; j < cols; ++j) {  // Gram–Schmidt; twice is enough
    for (int round = 0; round < 2; ++round) {
      for (Index k = 0; k < j; ++k) q.col(j) -= q.col(k).dot(q.col(j)) * q.col(k);
      q.col(j) /= q.col(j).norm();
    }
  }
  return q;
}

Stack with_singular_values(Index rows, const RealVector& values, RandomStream& random) {
  Matrix u = feasible(rows, values.size(), random);
  const Matrix v = feasible(values.size(), values.size(), random);
  for (Index j = 0; j < u.cols(); ++j) u.col(j) *= values(j);
  return product(u, Matrix(v.adjoint()));
}

Matrix hermitian(const RealVector& values, RandomStream& random) {
  const Matrix u = feasible(values.size(), values.size(), random);
  Matrix scaled = u;
  for (Index j = 0; j < u.cols(); ++j) scaled.col(j) *= values(j);
  const Matrix h = product(scaled, Matrix(u.adjoint()));
  return 0.5 * (h + h.adjoint());
}

void fill(const Square& to, const Matrix& from) {
  for (Index i = 0; i < to.size(); ++i)
    for (Index j = 0; j < to.size(); ++j) to.set(i, j, from(i, j));
}

RealVector singular_values(const Matrix& matrix) {
  RealVector out = column_norms(
      orthogonal_columns(matrix.rows() < matrix.cols() ? Matrix(matrix.adjoint()) : matrix));
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

double least_eigenvalue(const Matrix& lower) {
  Matrix shifted = lower;
  for (Index j = 0; j < lower.cols(); ++j)
    for (Index i = 0; i < j; ++i) shifted(i, j) = std::conj(lower(j, i));
  const double shift = shifted.norm();  // makes it positive
  for (Index i = 0; i < lower.rows(); ++i) shifted(i, i) = lower(i, i).real() + shift;
  return singular_values(shifted).minCoeff() - shift;
}

Matrix square_root(const Matrix& state) {
  Matrix out = orthogonal_columns(state);
  const RealVector values = column_norms(out);
  for (Index j = 0; j < out.cols(); ++j) {
    if (values(j) > 1e-13) {
      out.col(j) /= std::sqrt(values(j));
    } else {
      out.col(j).setZero();
    }
  }
  return out;
}

Matrix solve(Matrix a, Matrix b) {
  for (Index k = 0; k < a.rows(); ++k) {
    Index pivot = k;
    for (Index i = k; i < a.rows(); ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    for (Index j = 0; j < a.cols(); ++j) std::swap(a(k, j), a(pivot, j));
    for (Index j = 0; j < b.cols(); ++j) std::swap(b(k, j), b(pivot, j));
    for (Index i = 0; i < a.rows(); ++i) {
      if (i == k) continue;
      const Complex factor = a(i, k) / a(k, k);
      for (Index j = k; j < a.cols(); ++j) a(i, j) -= factor * a(k, j);
      for (Index j = 0; j < b.cols(); ++j) b(i, j) -= factor * b(k, j);
    }
  }
  for (Index i = 0; i < b.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) b(i, j) /= a(i, i);
  return b;
}

Matrix product(const Matrix& a, const Matrix& b) { return a.lazyProduct(b); }

Stack product(const Stack& a, const Matrix& b) { return product(Matrix(a), b); }

Matrix adjoint_product(const Stack& a, const Stack& b) {
  return product(Matrix(a.adjoint()), Matrix(b));
}

double inner(const Stack& a, const Stack& b) { return a.conjugate().cwiseProduct(b).sum().real(); }

double largest_entry(const Stack& z) { return z.cwiseAbs().maxCoeff(); }

double distance(const Stack& a, const Stack& b) { return largest_entry(a - b); }

double norm_distance(const Matrix& a, const Matrix& b) { return (a - b).norm(); }

double norm_distance(const Stack& a, const Stack& b) { return (a - b).norm(); }

double norm_distance(const RealMatrix& a, const RealMatrix& b) { return (a - b).norm(); }

double norm_distance(const RealVector& a, const RealVector& b) { return (a - b).norm(); }

Stack naive_newton_schulz(Stack z, int steps) {
  z /= z.norm();
  for (int step = 0; step < steps; ++step) {
    const Matrix h = adjoint_product(z, z);
    const Matrix p = 2.0315 * product(h, h) - 4.7750 * h;
    z = 3.4445 * z + product(z, p);
  }
  return z;
}

double naive_residual(const Stack& gamma) {
  Matrix gram = adjoint_product(gamma, gamma);
  gram.diagonal().array() -= 1.0;
  return gram.norm();
}

}  // namespace hqmm::detail::testing
