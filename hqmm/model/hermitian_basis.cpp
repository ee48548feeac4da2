#include "hqmm/model/hermitian_basis.hpp"

#include <cmath>
#include <numbers>

namespace hqmm {

RealVector to_coordinates(const Matrix& hermitian) {
  const Index n = hermitian.rows();
  RealVector out(n * n);
  out.head(n) = hermitian.diagonal().real();
  Index k = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      out(k++) = std::numbers::sqrt2 * hermitian(i, j).real();
      out(k++) = std::numbers::sqrt2 * hermitian(i, j).imag();
    }
  }
  return out;
}

Matrix from_coordinates(const RealVector& coordinates) {
  const auto n =
      static_cast<Index>(std::lround(std::sqrt(static_cast<double>(coordinates.size()))));
  Matrix out(n, n);
  out.diagonal() = coordinates.head(n).cast<Complex>();
  Index k = n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j, k += 2) {
      out(i, j) = Complex(coordinates(k), coordinates(k + 1)) / std::numbers::sqrt2;
      out(j, i) = std::conj(out(i, j));
    }
  }
  return out;
}

RealMatrix total_channel_matrix(const KrausSet& set) {
  const Index size = set.latent_dim() * set.latent_dim();
  RealMatrix out(size, size);
  for (Index k = 0; k < size; ++k) {
    out.col(k) = to_coordinates(set.apply_total(from_coordinates(RealVector::Unit(size, k))));
  }
  return out;
}

}  // namespace hqmm
