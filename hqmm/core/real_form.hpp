// A complex matrix as a real one of twice the size: (Re K, −Im K; Im K, Re K), which acts on
// columns of real parts over imaginary parts, and the way back for gradients.
#pragma once

#include "hqmm/core/panels.hpp"
#include "hqmm/core/types.hpp"

namespace hqmm {

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

/// Columns Y of real parts over imaginary parts, n of them: writes iY behind them.
inline void write_i_behind(double* y, Index n, Index stride) {
  double* turned = y + n * stride;
  for (Index j = 0; j < n; ++j, y += stride, turned += stride) {
    for (Index i = 0; i < n; ++i) turned[i] = -y[n + i];
    for (Index i = 0; i < n; ++i) turned[n + i] = y[i];
    for (Index i = 2 * n; i < padded_rows(2 * n); ++i) turned[i] = 0.0;
  }
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

}  // namespace hqmm
