// Complex matrices for real products: as columns of real parts over imaginary parts, and as the
// real form (Re K, −Im K; Im K, Re K) of twice the size, which acts on such columns.
#pragma once

#include "hqmm/core/panels.hpp"
#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// K: n × n, row-major. Columns of `out` are `stride` apart.
inline void write_real_form(const Complex* k, Index n, Index stride, double* out) {
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j, ++k) {
      out[j * stride + i] = out[(n + j) * stride + n + i] = k->real();
      out[j * stride + n + i] = k->imag();
      out[(n + j) * stride + i] = -k->imag();
    }
  }
}

/// Of a real matrix, which is its own real form: the n × n numbers themselves.
inline void write_real_matrix(const Complex* k, Index n, Index stride, double* out) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j, ++k) out[j * stride + i] = k->real();
}

/// An n × n matrix as columns of real parts over imaginary parts, `stride` apart.
inline void write_columns(const Matrix& matrix, Index stride, double* out) {
  const Index n = matrix.rows();
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      out[j * stride + i] = matrix(i, j).real();
      out[j * stride + n + i] = matrix(i, j).imag();
    }
  }
}

inline Matrix read_columns(const double* in, Index n, Index stride) {
  Matrix out(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) out(i, j) = {in[j * stride + i], in[j * stride + n + i]};
  return out;
}

/// Columns Y of real parts over imaginary parts, n of them: writes iY after them.
inline void write_i_behind(double* y, Index n, Index stride) {
  double* turned = y + n * stride;
  for (Index j = 0; j < n; ++j, y += stride, turned += stride) {
    for (Index i = 0; i < n; ++i) turned[i] = -y[n + i];
    for (Index i = 0; i < n; ++i) turned[n + i] = y[i];
    for (Index i = 2 * n; i < padded_rows(2 * n); ++i) turned[i] = 0.0;
  }
}

/// out (+)= K ρ K† for columns ρ and the real form of K, without a transposition: (Y, iY) of Y = Kρ
/// times K†, which is how the real form of K reads by rows. `moved` has room for both.
inline void conjugate(PanelKernel kernel, const double* k, const double* rho, Index n, Index stride,
                      double* moved, bool add, double* out) {
  PanelProduct product{.rows = padded_rows(2 * n), .depth = 2 * n, .cols = n};
  product.left_stride = product.out_stride = stride;
  product.left = k;
  product.right = rho;
  product.col_step = stride;
  product.out = moved;
  kernel(product);
  write_i_behind(moved, n, stride);
  product.left = moved;
  product.right = k;
  product.depth_step = stride;
  product.col_step = 1;
  product.out = out;
  product.add = add;
  kernel(product);
}

/// out += factor · ∂/∂K, from g = ∂ by every entry of the real form.
inline void add_complex_gradient(const double* g, Index n, Index stride, double factor,
                                 Complex* out) {
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j, ++out) {
      *out += factor * Complex(g[j * stride + i] + g[(n + j) * stride + n + i],
                               g[j * stride + n + i] - g[(n + j) * stride + i]);
    }
  }
}

/// The same of a real matrix.
inline void add_real_gradient(const double* g, Index n, Index stride, double factor, Complex* out) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j, ++out) *out += factor * g[j * stride + i];
}

/// The upper half of a symmetric matrix from its lower one, a few columns at a time so that whole
/// lines are written.
inline void mirror_lower(double* x, Index n, Index stride) {
  constexpr Index kColumns = 8;
  for (Index first = 0; first < n; first += kColumns) {
    for (Index i = first + 1; i < n; ++i) {
      const Index end = i < first + kColumns ? i : first + kColumns;
      for (Index j = first; j < end; ++j) x[i * stride + j] = x[j * stride + i];
    }
  }
}

}  // namespace hqmm::detail
