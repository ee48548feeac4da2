#include "support/circuits.hpp"

#include <cmath>

namespace hqmm::detail::testing {
namespace {

Matrix gate_matrix(const Gate& gate, int qubits) {
  const Index size = Index{1} << qubits;
  const Index target = Index{1} << gate.target;
  Matrix out = Matrix::Zero(size, size);
  for (Index i = 0; i < size; ++i) {
    if (gate.is_cx()) {
      out((i >> gate.control & 1) != 0 ? i ^ target : i, i) = 1.0;
    } else if ((i & target) == 0) {
      out(i, i) = std::cos(gate.theta / 2.0);
      out(i | target, i) = std::polar(std::sin(gate.theta / 2.0), gate.phi);
    } else {
      out(i ^ target, i) = -std::polar(std::sin(gate.theta / 2.0), gate.lambda);
      out(i, i) = std::polar(std::cos(gate.theta / 2.0), gate.phi + gate.lambda);
    }
  }
  return out;
}

/// ρ of the system, the environment forgotten.
Matrix without_environment(const Matrix& rho, const ModelCircuit& circuit) {
  const Index n = Index{1} << circuit.system_qubits;
  Matrix out = Matrix::Zero(n, n);
  for (Index e = 0; e < rho.rows() / n; ++e) out += rho.block(e * n, e * n, n, n);
  return out;
}

Matrix with_environment(const Matrix& system, const ModelCircuit& circuit) {
  const Index size = Index{1} << circuit.qubits();
  Matrix out = Matrix::Zero(size, size);
  out.topLeftCorner(system.rows(), system.cols()) = system;
  return out;
}

Matrix after(const Circuit& circuit, const Matrix& rho) {
  Matrix half = rho;
  apply(circuit, half);
  Matrix out = half.adjoint();
  apply(circuit, out);
  return out;
}

/// The part in which the outcome belongs to the symbol.
Matrix measured(const Matrix& rho, const ModelCircuit& circuit, Symbol symbol) {
  Matrix out = rho;
  for (Index i = 0; i < rho.rows(); ++i) {
    const Index outcome = (i >> circuit.system_qubits) % (Index{1} << circuit.measured_qubits);
    if (outcome / circuit.outcomes_per_symbol == symbol) continue;
    out.row(i).setZero();
    out.col(i).setZero();
  }
  return out;
}

}  // namespace

Matrix naive_unitary(const Circuit& circuit) {
  const Index size = Index{1} << circuit.qubits;
  Matrix out = std::polar(1.0, circuit.phase) * Matrix::Identity(size, size);
  for (const Gate& gate : circuit.gates) out = (gate_matrix(gate, circuit.qubits) * out).eval();
  return out;
}

Matrix prepared_state(const ModelCircuit& circuit) {
  const Index n = Index{1} << circuit.system_qubits;
  Matrix zero = Matrix::Zero(n, n);
  zero(0, 0) = 1.0;
  return without_environment(after(circuit.prepare, with_environment(zero, circuit)), circuit);
}

double circuit_probability(const ModelCircuit& circuit, const std::vector<Symbol>& symbols) {
  Matrix system = prepared_state(circuit);
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    const CircuitStep& step = circuit.steps[circuit.order[t]];
    Matrix rho = after(step.evolve, with_environment(system, circuit));
    if (step.emit)
      rho = after(*step.emit, with_environment(without_environment(rho, circuit), circuit));
    system = without_environment(measured(rho, circuit, symbols[t]), circuit);
  }
  return system.trace().real();
}

}  // namespace hqmm::detail::testing
