#include "hqmm/stiefel/gram.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "hqmm/stiefel/products.hpp"

namespace hqmm::detail {

Matrix gram(const Stack& z) {
  SquareMemory h(z.cols(), 1);
  gram(z, h[0]);
  return to_matrix(h[0]);
}

double safe_scale(const Stack& z) {
  assert(z.allFinite());
  if (has_safe_squares(z.squaredNorm())) return 1.0;
  const double largest = std::max(z.real().cwiseAbs().maxCoeff(), z.imag().cwiseAbs().maxCoeff());
  assert(largest > 0.0);
  // 2^1000 is enough for the smallest subnormal, and is itself finite where 1/largest is not.
  return std::ldexp(1.0, std::min(-std::ilogb(largest), 1000));
}

}  // namespace hqmm::detail
