#include "hqmm/circuit/circuit.hpp"

#include <algorithm>
#include <cmath>

namespace hqmm::detail {
namespace {

void apply_cx(const Gate& gate, Matrix& columns) {
  const Index control = Index{1} << gate.control;
  const Index target = Index{1} << gate.target;
  for (Index i = 0; i < columns.rows(); ++i) {
    if ((i & control) != 0 && (i & target) == 0) columns.row(i).swap(columns.row(i | target));
  }
}

void apply_rotation(const Gate& gate, Matrix& columns) {
  const double c = std::cos(gate.theta / 2.0);
  const double s = std::sin(gate.theta / 2.0);
  const Complex upper_right = -std::polar(s, gate.lambda);
  const Complex lower_left = std::polar(s, gate.phi);
  const Complex lower_right = std::polar(c, gate.phi + gate.lambda);
  const Index target = Index{1} << gate.target;
  for (Index j = 0; j < columns.cols(); ++j) {
    for (Index i = 0; i < columns.rows(); ++i) {
      if ((i & target) != 0) continue;
      const Complex zero = columns(i, j);
      const Complex one = columns(i | target, j);
      columns(i, j) = c * zero + upper_right * one;
      columns(i | target, j) = lower_left * zero + lower_right * one;
    }
  }
}

}  // namespace

CircuitCost cost_of(const Circuit& circuit) {
  CircuitCost out;
  std::vector<std::size_t> busy(static_cast<std::size_t>(circuit.qubits), 0);
  for (const Gate& gate : circuit.gates) {
    auto& at_target = busy[static_cast<std::size_t>(gate.target)];
    if (gate.is_cx()) {
      auto& at_control = busy[static_cast<std::size_t>(gate.control)];
      at_target = at_control = std::max(at_target, at_control) + 1;
      ++out.cnots;
    } else {
      ++at_target;
      ++out.one_qubit_gates;
    }
    out.depth = std::max(out.depth, at_target);
  }
  return out;
}

void apply(const Circuit& circuit, Matrix& columns) {
  for (const Gate& gate : circuit.gates) {
    gate.is_cx() ? apply_cx(gate, columns) : apply_rotation(gate, columns);
  }
  columns *= std::polar(1.0, circuit.phase);
}

Matrix unitary_columns(const Circuit& circuit, Index count) {
  Matrix out = Matrix::Identity(Index{1} << circuit.qubits, count);
  apply(circuit, out);
  return out;
}

}  // namespace hqmm::detail
