// Circuits as text and arrays for other software.
//
//   OpenQASM 3   one gate definition per step, a loop over the symbols
//   OpenQASM 2   the same definitions, with the loop unrolled
//   QuTiP        a Python script that builds the operators and computes probabilities of sequences
//   npz          NumPy arrays: gates, unitaries, the isometry of every step
//
// All bytes depend on the circuit alone. What was measured comes back as bits; a comment at the top
// says which bits are which symbol.
#pragma once

#include <string>

#include "hqmm/circuit/model_circuit.hpp"

namespace hqmm::detail {

enum class CircuitFormat { kOpenQasm3, kOpenQasm2, kQutip, kNpz };

[[nodiscard]] std::string write_circuit(const ModelCircuit& circuit, CircuitFormat format);

/// What a symbol is in words, for comments: "outcomes 0, 1: 'a'".
[[nodiscard]] std::string outcome_text(const ModelCircuit& circuit, Index symbol);

// One function per format.
[[nodiscard]] std::string write_openqasm3(const ModelCircuit& circuit);
[[nodiscard]] std::string write_openqasm2(const ModelCircuit& circuit);
[[nodiscard]] std::string write_qutip(const ModelCircuit& circuit);
[[nodiscard]] std::string write_npz(const ModelCircuit& circuit);

}  // namespace hqmm::detail
