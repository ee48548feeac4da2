// Operators on two qubits by at most three CNOTs.
//
// Every U of U(4) has a canonical form (Cartan's decomposition)
//
//   U = e^{iα} (A₁ ⊗ A₀) exp(i(x XX + y YY + z ZZ)) (B₁ ⊗ B₀)
//
// and the number of CNOTs it needs follows from how many of x, y, z are multiples of π/2. Up to
// a diagonal two are always enough (Shende, Bullock and Markov, IEEE Trans. CAD 25 (2006) 1000).
// Index of a basis state: 2·(qubit 1) + (qubit 0).
#pragma once

#include <array>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

using Matrix2 = Eigen::Matrix2cd;
using Matrix4 = Eigen::Matrix4cd;

[[nodiscard]] Matrix2 rz_matrix(double angle);
[[nodiscard]] Matrix2 ry_matrix(double angle);
/// a ⊗ b: a on qubit 1, b on qubit 0.
[[nodiscard]] Matrix4 kronecker(const Matrix2& a, const Matrix2& b);

struct CanonicalForm {
  double phase = 0.0;                  // α
  Matrix2 after_1, after_0;            // A₁, A₀
  Matrix2 before_1, before_0;          // B₁, B₀
  std::array<double, 3> xyz{0, 0, 0};  // each in [−π/4, π/4]
};
[[nodiscard]] CanonicalForm canonical_form(const Matrix4& unitary);

/// Layers of one-qubit gates with CNOTs between them:
/// layer[0], CX, layer[1], CX, … in the order of time.
struct TwoQubitGates {
  struct Layer {
    Matrix2 on_1, on_0;
  };
  std::vector<Layer> layers;          // one more than there are CNOTs
  std::vector<bool> controlled_by_1;  // the control of each CNOT: qubit 1, or qubit 0
  double phase = 0.0;
};
[[nodiscard]] TwoQubitGates two_qubit_gates(const Matrix4& unitary);

/// D diagonal and V of at most two CNOTs with U = DV. Where such a D is lost in rounding it is I,
/// and V needs three.
struct UpToDiagonal {
  Eigen::Vector4cd diagonal;
  Matrix4 rest;
};
[[nodiscard]] UpToDiagonal up_to_diagonal(const Matrix4& unitary);

}  // namespace hqmm::detail
