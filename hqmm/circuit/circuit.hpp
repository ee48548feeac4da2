// Circuits of two kinds of gates, and what they cost.
//
//   U(θ, φ, λ) = [ cos θ/2          −e^{iλ} sin θ/2    ]
//                [ e^{iφ} sin θ/2   e^{i(φ+λ)} cos θ/2 ]
//   CX           flips `target` where `control` is 1
//
// Qubit 0 is the lowest bit of a basis state's index.
#pragma once

#include <cstddef>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

struct Gate {
  static constexpr int kNone = -1;

  int target = 0;
  int control = kNone;  // CX when there is one, U(θ, φ, λ) when not
  double theta = 0.0;
  double phi = 0.0;
  double lambda = 0.0;

  [[nodiscard]] bool is_cx() const noexcept { return control != kNone; }
};

struct Circuit {
  int qubits = 0;
  std::vector<Gate> gates;  // in the order of time
  double phase = 0.0;       // the circuit is e^{i phase} times its gates: nothing one could measure
};

struct CircuitCost {
  std::size_t cnots = 0;
  std::size_t one_qubit_gates = 0;
  std::size_t depth = 0;  // gates on different qubits at the same time
};
[[nodiscard]] CircuitCost cost_of(const Circuit& circuit);

/// The circuit's unitary applied to every column; 2^qubits rows.
void apply(const Circuit& circuit, Matrix& columns);
/// The first columns of its unitary: what it does to the basis states 0, 1, …
[[nodiscard]] Matrix unitary_columns(const Circuit& circuit, Index count);

}  // namespace hqmm::detail
