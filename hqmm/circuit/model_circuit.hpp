// A model as a circuit (Stinespring's dilation): what a quantum computer runs to emit its symbols.
//
//   system        ⌈log₂ n⌉ qubits, the lowest: basis states 0 … n−1 are those of the model
//   environment   the qubits above, |0…0⟩ before every step
//
// On edges, one step is a unitary with U |i⟩|0⟩ = Σ_{y,q} (K[y][q] |i⟩) |y·w + q⟩: its first
// columns are Γ. The environment is measured (symbol = outcome / w) and reset. On states, V is a
// unitary of the system and ⌈log₂ w⌉ qubits, which are reset; then the symbol's register is set to
// Σ_y c_{y,i} |y⟩ where the system is |i⟩, measured (symbol = outcome) and reset.
//
// Where n or sw is not a power of two, the states and outcomes beyond are never reached. The
// initial state is prepared from |0…0⟩: a mixed one by purification, on qubits of the environment,
// which the first reset then forgets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hqmm/circuit/circuit.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

struct CircuitStep {
  Circuit evolve;
  std::optional<Circuit> emit;  // on states: after the environment's reset
};

struct ModelCircuit {
  Alphabet alphabet;
  EmissionKind emission = EmissionKind::kEdge;
  int system_qubits = 1;
  int environment_qubits = 0;
  int measured_qubits = 0;  // the lowest of the environment, each step
  Index outcomes_per_symbol = 1;
  Circuit prepare;
  bool prepare_uses_environment = false;
  std::vector<CircuitStep> steps;    // the different ones
  std::vector<std::uint32_t> order;  // which of them makes each symbol

  [[nodiscard]] int qubits() const { return system_qubits + environment_qubits; }
  [[nodiscard]] bool stationary() const { return steps.size() == 1; }
};

enum class InitialCircuit {
  kAuto,  // a mixed state by purification, a pure one without
  kPure,  // refuses a mixed state
};

struct CircuitOptions {
  std::size_t steps = 0;  // symbols; 0: as many as the position map has entries, 10 without one
  InitialCircuit initial = InitialCircuit::kAuto;
};

/// HMMs are embedded first: those that emit on states on states. Throws kBadData for a model that
/// is not trace preserving or too large (kMostUnitaryQubits), kUsage for options that do not fit
/// it.
[[nodiscard]] ModelCircuit model_circuit(const AnyModel& model, const CircuitOptions& options = {});

/// The isometry of one step as the circuit should have it: 2^qubits × 2^system_qubits of Γ, or of V
/// on states, with the identity on the system's states beyond n.
[[nodiscard]] Matrix padded_isometry(const KrausSet& set);

}  // namespace hqmm::detail
