// Circuits as they are written down: every gate a matrix on all qubits, states as density matrices.
#pragma once

#include <vector>

#include "hqmm/circuit/model_circuit.hpp"

namespace hqmm::detail::testing {

/// The product of the gates' matrices, 2^qubits × 2^qubits.
Matrix naive_unitary(const Circuit& circuit);

/// ρ of the system after the preparation.
Matrix prepared_state(const ModelCircuit& circuit);

/// P(these symbols): prepared, and measured and reset once per symbol.
double circuit_probability(const ModelCircuit& circuit, const std::vector<Symbol>& symbols);

}  // namespace hqmm::detail::testing
