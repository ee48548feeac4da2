#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <vector>

#include "hqmm/circuit/write.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/version.hpp"

namespace hqmm::detail {
namespace {

/// With a point or an exponent, and all digits: both languages tell reals from integers.
std::string real_text(double value) { return fmt::format("{:#}", value + 0.0); }

/// "a, b, c": qubit k as format(k), from the first on.
template <typename Format>
std::string qubit_list(int first, int count, Format format) {
  std::string out;
  for (int k = first; k < first + count; ++k) out += (k > first ? ", " : "") + format(k);
  return out;
}

std::string parameters(int qubits) {
  return qubit_list(0, qubits, [](int k) { return fmt::format("q{}", k); });
}

std::string arguments(const ModelCircuit& circuit) {
  return qubit_list(0, circuit.qubits(), [](int k) { return fmt::format("q[{}]", k); });
}

std::string header(const ModelCircuit& circuit) {
  std::string out = fmt::format(
      "// A hidden quantum Markov model as a circuit, by hqmm {}.\n"
      "// q[0] to q[{}] hold the latent state; "
      "the {} above are the environment, |0> before every step.\n",
      HQMM_VERSION, circuit.system_qubits - 1, circuit.environment_qubits);
  if (circuit.measured_qubits == 0)
    return out + "// There is one symbol only: nothing to measure.\n";
  out += fmt::format(
      "// A step measures {} qubits into as many bits, "
      "the lowest first; the number they make is the outcome.\n",
      circuit.measured_qubits);
  for (Index y = 0; y < static_cast<Index>(circuit.alphabet.size()); ++y)
    out += "//   " + outcome_text(circuit, y) + "\n";
  const Index used = static_cast<Index>(circuit.alphabet.size()) * circuit.outcomes_per_symbol;
  if (used < Index{1} << circuit.measured_qubits)
    out += fmt::format("//   outcomes from {} on do not occur\n", used);
  return out;
}

/// A line for each gate; qubit(k) names a qubit.
template <typename Qubit>
std::string gate_lines(const Circuit& circuit, const char* indent, const char* rotation,
                       Qubit qubit) {
  std::string out;
  for (const Gate& gate : circuit.gates) {
    out += gate.is_cx()
               ? fmt::format("{}cx {}, {};\n", indent, qubit(gate.control), qubit(gate.target))
               : fmt::format("{}{}({}, {}, {}) {};\n", indent, rotation, real_text(gate.theta),
                             real_text(gate.phi), real_text(gate.lambda), qubit(gate.target));
  }
  return out;
}

/// gate name q0, q1, … { … }
std::string definition(const std::string& name, const Circuit& circuit) {
  return fmt::format("gate {} {} {{\n{}}}\n", name, parameters(circuit.qubits),
                     gate_lines(circuit, "  ", "U", [](int k) { return fmt::format("q{}", k); }));
}

std::string definitions(const ModelCircuit& circuit) {
  std::string out;
  if (!circuit.prepare.gates.empty()) out += definition("prepare_state", circuit.prepare);
  for (std::size_t k = 0; k < circuit.steps.size(); ++k) {
    const CircuitStep& step = circuit.steps[k];
    out += definition(fmt::format("evolve_{}", k), step.evolve);
    if (step.emit) out += definition(fmt::format("emit_{}", k), *step.emit);
  }
  return out;
}

/// How a version of the language is written.
struct Dialect {
  std::string indent;
  /// What is done to all qubits, by name or gate by gate.
  std::function<std::string(const std::string& name, const Circuit& gates)> apply;
  /// What comes before a qubit is reset that has not been measured, with a line's end; or nothing.
  std::function<std::string(int qubit)> discard;
};

/// The first `measured` qubits of the environment have just been measured.
std::string reset_environment(const ModelCircuit& circuit, const Dialect& dialect, int measured) {
  std::string out;
  for (int k = circuit.system_qubits; k < circuit.qubits(); ++k) {
    if (k >= circuit.system_qubits + measured) out += dialect.discard(k);
    out += fmt::format("{}reset q[{}];\n", dialect.indent, k);
  }
  return out;
}

/// One step; measure(bit, qubit) writes a measurement.
template <typename Measure>
std::string step_text(const ModelCircuit& circuit, std::size_t step, const Dialect& dialect,
                      Measure measure) {
  std::string out = dialect.apply(fmt::format("evolve_{}", step), circuit.steps[step].evolve);
  if (circuit.steps[step].emit) {
    out += reset_environment(circuit, dialect, 0);
    out += dialect.apply(fmt::format("emit_{}", step), *circuit.steps[step].emit);
  }
  for (int bit = 0; bit < circuit.measured_qubits; ++bit)
    out += dialect.indent + measure(bit, circuit.system_qubits + bit);
  return out + reset_environment(circuit, dialect, circuit.measured_qubits);
}

std::string preparation(const ModelCircuit& circuit, const Dialect& dialect) {
  if (circuit.prepare.gates.empty()) return "";
  const std::string out = dialect.apply("prepare_state", circuit.prepare);
  return out + (circuit.prepare_uses_environment ? reset_environment(circuit, dialect, 0) : "");
}

}  // namespace

std::string outcome_text(const ModelCircuit& circuit, Index symbol) {
  const Index w = circuit.outcomes_per_symbol;
  std::string token(circuit.alphabet.token(static_cast<Symbol>(symbol)));
  token = printable(token);
  if (w == 1) return fmt::format("outcome {}: symbol '{}'", symbol, token);
  return fmt::format("outcomes {} to {}: symbol '{}'", symbol * w, symbol * w + w - 1, token);
}

std::string write_openqasm3(const ModelCircuit& circuit) {
  const int m = circuit.measured_qubits;
  std::string out = "OPENQASM 3.0;\n" + header(circuit);
  if (m > 0)
    out += fmt::format("// Step t, from 0 on, writes outcome[{0} * t] to outcome[{0} * t + {1}].\n",
                       m, m - 1);
  out += "include \"stdgates.inc\";\n\n" + definitions(circuit) + "\n";
  out += fmt::format("qubit[{}] q;\n", circuit.qubits());
  if (m > 0)
    out += fmt::format("bit[{}] outcome;\n", circuit.order.size() * static_cast<std::size_t>(m));
  const auto calls = [&](const std::string& indent) {
    const auto call = [&circuit, indent](const std::string& name, const Circuit&) {
      return fmt::format("{}{} {};\n", indent, name, arguments(circuit));
    };
    return Dialect{indent, call, [](int) { return std::string(); }};
  };
  out += "reset q;\n" + preparation(circuit, calls(""));
  if (circuit.stationary()) {
    out += fmt::format("for int t in [0:{}] {{\n", circuit.order.size() - 1);
    out += step_text(circuit, 0, calls("  "), [m](int bit, int qubit) {
      return fmt::format("outcome[{} * t + {}] = measure q[{}];\n", m, bit, qubit);
    });
    return out + "}\n";
  }
  for (std::size_t t = 0; t < circuit.order.size(); ++t) {
    out += step_text(circuit, circuit.order[t], calls(""), [m, t](int bit, int qubit) {
      return fmt::format("outcome[{}] = measure q[{}];\n",
                         t * static_cast<std::size_t>(m) + static_cast<std::size_t>(bit), qubit);
    });
  }
  return out;
}

// For a simulator, quantum-circuit, that takes the wrong definition where one is used several
// times: gate by gate. And that takes `reset` for a projection onto |0>: a qubit is measured before
// it is reset.
std::string write_openqasm2(const ModelCircuit& circuit) {
  std::string out = "OPENQASM 2.0;\n" + header(circuit);
  out += "// Step t, from 0 on, writes the register outcome_t.\n";
  out += "include \"qelib1.inc\";\n\n";
  out += fmt::format("qreg q[{}];\n", circuit.qubits());
  for (std::size_t t = 0; t < circuit.order.size() && circuit.measured_qubits > 0; ++t)
    out += fmt::format("creg outcome_{}[{}];\n", t, circuit.measured_qubits);
  const auto inlined = [](const std::string& name, const Circuit& circuit_of) {
    return fmt::format("// {}\n{}", name, gate_lines(circuit_of, "", "u3", [](int k) {
                         return fmt::format("q[{}]", k);
                       }));
  };
  const auto discard = [&circuit](int k) {
    return fmt::format("measure q[{}] -> discarded[{}];\n", k, k - circuit.system_qubits);
  };
  const Dialect dialect{"", inlined, discard};
  std::string body = preparation(circuit, dialect);
  for (std::size_t t = 0; t < circuit.order.size(); ++t) {
    body += step_text(circuit, circuit.order[t], dialect, [t](int bit, int qubit) {
      return fmt::format("measure q[{}] -> outcome_{}[{}];\n", qubit, t, bit);
    });
  }
  if (body.find("discarded") != std::string::npos)
    out += fmt::format("creg discarded[{}]; // says nothing\n", circuit.environment_qubits);
  return out + body;
}

}  // namespace hqmm::detail
