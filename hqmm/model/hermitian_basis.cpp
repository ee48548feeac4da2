#include "hqmm/model/hermitian_basis.hpp"

#include <cmath>
#include <numbers>

namespace hqmm::detail {

RealVector to_coordinates(const Matrix& hermitian) {
  const Index n = hermitian.rows();
  const HermitianCoordinates at(n);
  RealVector out(n * n);
  for (Index a = 0; a < n; ++a) {
    out(a) = hermitian(a, a).real();
    for (Index b = a + 1; b < n; ++b) {
      const Complex mean = 0.5 * (hermitian(a, b) + std::conj(hermitian(b, a)));
      out(at.re(a, b)) = std::numbers::sqrt2 * mean.real();
      out(at.im(a, b)) = std::numbers::sqrt2 * mean.imag();
    }
  }
  return out;
}

Matrix from_coordinates(const Eigen::Ref<const RealVector>& coordinates) {
  const auto n =
      static_cast<Index>(std::lround(std::sqrt(static_cast<double>(coordinates.size()))));
  const HermitianCoordinates at(n);
  Matrix out(n, n);
  for (Index a = 0; a < n; ++a) {
    out(a, a) = coordinates(a);
    for (Index b = a + 1; b < n; ++b) {
      out(a, b) = Complex(coordinates(at.re(a, b)), coordinates(at.im(a, b))) / std::numbers::sqrt2;
      out(b, a) = std::conj(out(a, b));
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

}  // namespace hqmm::detail
