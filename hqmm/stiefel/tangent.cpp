#include "hqmm/stiefel/tangent.hpp"

#include <cassert>

#include "hqmm/stiefel/planes.hpp"

namespace hqmm {
namespace {

/// ½(A + A†), in place.
void make_hermitian(Planes& a) {
  const Index stride = a.stride();
  double* re = a.re();
  double* im = a.im();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      const Index here = i * stride + j;
      const Index there = j * stride + i;
      re[here] = re[there] = 0.5 * (re[here] + re[there]);
      im[here] = 0.5 * (im[here] - im[there]);
      im[there] = -im[here];
    }
  }
}

}  // namespace

Stack project_tangent(const Stack& gamma, const Stack& g) {
  assert(gamma.rows() == g.rows() && gamma.cols() == g.cols());
  const Planes base(gamma);
  Planes cross(gamma.cols(), gamma.cols());
  multiply_adjoint(base, Planes(g), cross);
  make_hermitian(cross);  // ½(Γ†G + G†Γ)
  Planes normal(gamma.rows(), gamma.cols());
  multiply(base, cross, normal);
  return g - normal.to_stack();
}

double feasibility_residual(const Stack& gamma) {
  Planes h(gamma.cols(), gamma.cols());
  gram(Planes(gamma), h);
  return distance_from_identity(h);
}

}  // namespace hqmm
