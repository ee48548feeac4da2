#include "hqmm/circuit/shannon.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "hqmm/circuit/cosine_sine.hpp"
#include "hqmm/circuit/multiplexed.hpp"
#include "hqmm/core/decompositions.hpp"

namespace hqmm::detail {
namespace {

constexpr double kZeroBlock = 1e-14;

int qubits_of(Index dimension) { return std::countr_zero(static_cast<std::size_t>(dimension)); }

std::vector<int> first_qubits(int count) {
  std::vector<int> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

void add_one_qubit(CircuitDraft& draft, const Matrix& unitary) {
  draft.rotate(0, Matrix2(unitary));
}

/// The middle of both forms: Ry of qubit `top` by twice the angles that the qubits below select.
/// A CZ that is due goes into the branch of |1⟩ that follows.
void add_cosine_sine(CircuitDraft& draft, int top, const RealVector& angles, Matrix& left_1) {
  const RealVector twice = 2.0 * angles;
  const std::vector<int> controls = first_qubits(qubits_of(angles.size()));
  if (!add_multiplexed_ry_but_cz(draft, controls, top, {twice.begin(), twice.end()})) return;
  const Index last = Index{1} << controls.back();
  for (Index j = 0; j < angles.size(); ++j) {
    if ((j & last) != 0) left_1.col(j) = -left_1.col(j);
  }
}

/// V and the angles of Rz, and W of which the caller wants some columns.
struct Demultiplexed {
  Matrix v;
  Matrix w;
  std::vector<double> angles;
};

Demultiplexed demultiplex(const Matrix& zero, const Matrix& one, Index columns) {
  const NormalEigen eigen = normal_eigen(zero * one.adjoint());
  Demultiplexed out{eigen.vectors, {}, {}};
  Vector d(eigen.values.size());
  for (Index j = 0; j < d.size(); ++j) {
    const double angle = std::arg(eigen.values(j)) / 2.0;
    d(j) = std::polar(1.0, angle);
    out.angles.push_back(-2.0 * angle);
  }
  out.w = d.asDiagonal() * (eigen.vectors.adjoint() * one.leftCols(columns));
  return out;
}

bool is_zero(const Matrix& block) { return block.cwiseAbs().maxCoeff() < kZeroBlock; }

/// zero where qubit `top` is |0⟩, one where it is |1⟩; both are unitaries of the qubits below.
void add_choice(CircuitDraft& draft, int top, const Matrix& zero, const Matrix& one) {
  if (is_zero(zero - one)) return add_unitary(draft, one);
  Demultiplexed parts = demultiplex(zero, one, zero.cols());
  add_unitary(draft, parts.w);
  add_multiplexed(draft, Axis::kZ, first_qubits(top), top, parts.angles);
  add_unitary(draft, parts.v);
}

}  // namespace

double shannon_bound(int qubits) {
  if (qubits < 2) return 0.0;
  return 23.0 / 48.0 * std::pow(4.0, qubits) - 1.5 * std::pow(2.0, qubits) + 4.0 / 3.0;
}

void add_unitary(CircuitDraft& draft, const Matrix& unitary) {
  const int q = qubits_of(unitary.rows());
  if (q == 1) return add_one_qubit(draft, unitary);
  if (q == 2) return draft.two_qubit(Matrix4(unitary));
  const Index half = unitary.rows() / 2;
  if (is_zero(unitary.bottomLeftCorner(half, half)) && is_zero(unitary.topRightCorner(half, half)))
    return add_choice(draft, q - 1, unitary.topLeftCorner(half, half),
                      unitary.bottomRightCorner(half, half));
  CosineSine parts = cosine_sine(unitary.leftCols(half));
  const Matrix c = parts.angles.array().cos().matrix().asDiagonal() * parts.left_1.adjoint();
  const Matrix s = parts.angles.array().sin().matrix().asDiagonal() * parts.left_0.adjoint();
  const auto other = unitary.rightCols(half);
  const Matrix right_1 = c * other.bottomRows(half) - s * other.topRows(half);
  add_choice(draft, q - 1, parts.right, right_1);
  add_cosine_sine(draft, q - 1, parts.angles, parts.left_1);
  add_choice(draft, q - 1, parts.left_0, parts.left_1);
}

void add_isometry(CircuitDraft& draft, const Matrix& columns) {
  const int q = qubits_of(columns.rows());
  if (columns.cols() == columns.rows()) return add_unitary(draft, columns);
  if (q <= 2) return add_unitary(draft, completed(columns, columns.rows()));
  const Index half = columns.rows() / 2;
  if (is_zero(columns.bottomRows(half))) return add_isometry(draft, columns.topRows(half));
  CosineSine parts = cosine_sine(columns);
  add_unitary(draft, parts.right);
  add_cosine_sine(draft, q - 1, parts.angles, parts.left_1);
  Demultiplexed left = demultiplex(parts.left_0, parts.left_1, columns.cols());
  add_isometry(draft, left.w);
  add_multiplexed(draft, Axis::kZ, first_qubits(q - 1), q - 1, left.angles);
  add_unitary(draft, left.v);
}

Matrix completed(const Matrix& columns, Index count) {
  const FullQr qr = full_qr(columns);
  Matrix out = qr.q.leftCols(count);
  out.leftCols(columns.cols()) = columns;
  return out;
}

}  // namespace hqmm::detail
