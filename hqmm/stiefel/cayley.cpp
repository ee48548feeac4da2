#include "hqmm/stiefel/cayley.hpp"

#include <cassert>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/stiefel/gram.hpp"
#include "hqmm/stiefel/products.hpp"

namespace hqmm::detail {

Stack cayley(const Stack& gamma, const Stack& m, double eta) {
  assert(gamma.rows() == m.rows() && gamma.cols() == m.cols());
  const Index n = gamma.cols();
  SquareMemory memory(n, 2);
  multiply_adjoint(gamma, m, memory[0]);
  const Matrix cross = to_matrix(memory[0]);  // Γ†M
  // Γ†Γ as it is, not I: then what rounding has done to Γ is kept, not amplified.
  const Matrix gamma_gram = gram(gamma);

  Matrix system(2 * n, 2 * n);  // I + (η/2)V†U
  system.topLeftCorner(n, n) = cross;
  system.topRightCorner(n, n) = gamma_gram;
  system.bottomLeftCorner(n, n) = -gram(m);
  system.bottomRightCorner(n, n) = -cross.adjoint();
  system *= 0.5 * eta;
  system.diagonal().array() += 1.0;

  Matrix right(2 * n, n);  // V†Γ
  right.topRows(n) = gamma_gram;
  right.bottomRows(n) = -cross.adjoint();

  const Matrix x = eta * solve(system, right);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      memory[0].set(i, j, x(i, j));
      memory[1].set(i, j, x(n + i, j));
    }
  }
  Stack moved(gamma.rows(), n);
  multiply(m, memory[0], moved, -1.0, {1.0, gamma});
  multiply(gamma, memory[1], moved, -1.0, {1.0, moved});
  return moved;
}

}  // namespace hqmm::detail
