#include "hqmm/stiefel/tangent.hpp"

#include <cassert>
#include <cmath>

#include "hqmm/stiefel/products.hpp"

namespace hqmm::detail {
namespace {

/// A ← c·½(A + A†)
void make_hermitian(const Square& a, double c) {
  const Index stride = a.stride();
  const double half = 0.5 * c;
  for (Index i = 0; i < a.size(); ++i) {
    double* row = a.data() + i * stride;
    double* column = a.data() + 2 * i;
    for (Index j = 0; j < i; ++j) {
      double* here = row + 2 * j;
      double* there = column + j * stride;
      here[0] = there[0] = half * (here[0] + there[0]);
      here[1] = half * (here[1] - there[1]);
      there[1] = -here[1];
    }
    row[2 * i] *= c;
    row[2 * i + 1] = 0.0;
  }
}

}  // namespace

void blend_tangent(const Stack& gamma, const Stack& g, double past, double present, Stack& m,
                   const Square& cross) {
  assert(gamma.rows() == g.rows() && gamma.cols() == g.cols());
  assert(gamma.rows() == m.rows() && gamma.cols() == m.cols());
  multiply_adjoint(gamma, g, cross);
  make_hermitian(cross, -present);  // −½(Γ†G + G†Γ)
  multiply(gamma, cross, m, 1.0, {past, m}, {present, g});
}

Stack project_tangent(const Stack& gamma, const Stack& g) {
  Stack out = Stack::Zero(g.rows(), g.cols());
  SquareMemory cross(gamma.cols(), 1);
  blend_tangent(gamma, g, 0.0, 1.0, out, cross[0]);
  return out;
}

double feasibility_residual(const Stack& gamma) {
  SquareMemory memory(gamma.cols(), 1);
  const Square h = memory[0];
  gram(gamma, h);
  double sum = 0.0;
  for (Index i = 0; i < h.size(); ++i)
    for (Index j = 0; j < h.size(); ++j) sum += std::norm(h(i, j) - (i == j ? 1.0 : 0.0));
  return std::sqrt(sum);
}

}  // namespace hqmm::detail
