#include "hqmm/stiefel/polar.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/stiefel/gram.hpp"

namespace hqmm::detail {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Stack polar(const Stack& z) {
  if (!z.allFinite()) return z;
  return svd_unitary_factor(z);
}

double nuclear_norm(const Stack& z) {
  if (!z.allFinite()) return kNaN;
  return singular_values(z).sum();
}

double spectral_norm(const Stack& z) {
  if (!z.allFinite()) return kNaN;
  if (is_zero(z)) return 0.0;
  if (z.rows() < z.cols()) return spectral_norm(z.adjoint());
  const double scale = safe_scale(z);
  const Matrix h = scale == 1.0 ? gram(z) : gram(Stack(scale * z));
  return std::sqrt(hermitian_eigenvalues(h).maxCoeff()) / scale;
}

double operator_distance(const Stack& a, const Stack& b) {
  assert(a.rows() == b.rows() && a.cols() == b.cols());
  return spectral_norm(a - b);
}

}  // namespace hqmm::detail
