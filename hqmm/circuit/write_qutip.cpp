#include <fmt/format.h>

#include "hqmm/circuit/write.hpp"
#include "hqmm/version.hpp"

namespace hqmm::detail {
namespace {

/// [(target, control, theta, phi, lambda), …] with None for no control.
std::string gate_list(const Circuit& circuit) {
  std::string out = "[\n";
  for (const Gate& gate : circuit.gates) {
    out += gate.is_cx() ? fmt::format("    ({}, {}, 0.0, 0.0, 0.0),\n", gate.target, gate.control)
                        : fmt::format("    ({}, None, {:#}, {:#}, {:#}),\n", gate.target,
                                      gate.theta + 0.0, gate.phi + 0.0, gate.lambda + 0.0);
  }
  return out + "]";
}

constexpr const char* kProgram = R"(

def unitary(gates):
    """The gates one after the other, as an operator on all qubits. Tensor products begin with the highest qubit."""
    out = np.eye(2**QUBITS, dtype=complex).reshape([2] * QUBITS + [2**QUBITS])
    for target, control, theta, phi, lam in gates:
        axis = QUBITS - 1 - target
        if control is None:
            one_qubit = np.array([
                [np.cos(theta / 2), -np.exp(1j * lam) * np.sin(theta / 2)],
                [np.exp(1j * phi) * np.sin(theta / 2), np.exp(1j * (phi + lam)) * np.cos(theta / 2)]])
            out = np.moveaxis(np.tensordot(one_qubit, out, (1, axis)), 0, axis)
        else:
            where = [np.s_[:]] * QUBITS
            where[QUBITS - 1 - control] = np.s_[1:]
            out[tuple(where)] = np.flip(out[tuple(where)], axis).copy()
    return qutip.Qobj(out.reshape(2**QUBITS, 2**QUBITS), dims=[[2] * QUBITS] * 2)


def system_of(rho):
    """The environment forgotten."""
    return rho.ptrace(list(range(QUBITS - SYSTEM, QUBITS))) if QUBITS > SYSTEM else rho


def with_environment(rho):
    zeros = [qutip.basis(2, 0).proj()] * (QUBITS - SYSTEM)
    return qutip.tensor(zeros + [rho]) if zeros else rho


def outcome(symbol):
    """The projector on the outcomes of a symbol."""
    values = range(symbol * OUTCOMES_PER_SYMBOL, (symbol + 1) * OUTCOMES_PER_SYMBOL)
    diagonal = [float((i >> SYSTEM) % 2**MEASURED in values) for i in range(2**QUBITS)]
    return qutip.Qobj(np.diag(diagonal), dims=[[2] * QUBITS] * 2)


PREPARED = unitary(PREPARE)
UNITARIES = [[unitary(part) for part in step] for step in STEPS]


def probability(symbols):
    """P(these symbols, numbers from 0 on): prepared, then measured and reset once per symbol."""
    rho = PREPARED * qutip.tensor([qutip.basis(2, 0).proj()] * QUBITS) * PREPARED.dag()
    rho = system_of(rho)
    for t, symbol in enumerate(symbols):
        for part in UNITARIES[ORDER[t]]:
            rho = part * with_environment(system_of(rho) if rho.shape[0] > 2**SYSTEM else rho) * part.dag()
        projector = outcome(symbol)
        rho = system_of(projector * rho * projector)
    return rho.tr().real


if __name__ == "__main__":
    # python3 SCRIPT 0 1 1: the probability of that sequence
    print(repr(probability([int(symbol) for symbol in sys.argv[1:]])))
)";

}  // namespace

std::string write_qutip(const ModelCircuit& circuit) {
  std::string out = fmt::format(
      "# A hidden quantum Markov model as a circuit, by hqmm {}, for QuTiP 4.7 or 5.\n"
      "# Qubits 0 to {} hold the latent state, the others are the environment.\n",
      HQMM_VERSION, circuit.system_qubits - 1);
  for (Index y = 0; y < static_cast<Index>(circuit.alphabet.size()); ++y)
    out += fmt::format("#   symbol number {}: {}\n", y, outcome_text(circuit, y));
  out += "import sys\n\nimport numpy as np\nimport qutip\n\n";
  out += fmt::format("QUBITS = {}\nSYSTEM = {}\nMEASURED = {}\nOUTCOMES_PER_SYMBOL = {}\n",
                     circuit.qubits(), circuit.system_qubits, circuit.measured_qubits,
                     circuit.outcomes_per_symbol);
  out +=
      "# (target, control, theta, phi, lambda): "
      "CX where there is a control, else U(theta, phi, lambda).\nPREPARE = " +
      gate_list(circuit.prepare) + "\n";
  out +=
      "# For every different step its unitaries; "
      "the environment is reset between them.\nSTEPS = [\n";
  for (const CircuitStep& step : circuit.steps) {
    out += "[" + gate_list(step.evolve);
    if (step.emit) out += ", " + gate_list(*step.emit);
    out += "],\n";
  }
  out += fmt::format("]\n# Which of them makes each symbol.\nORDER = [{}]\n",
                     fmt::join(circuit.order, ", "));
  return out + kProgram;
}

}  // namespace hqmm::detail
