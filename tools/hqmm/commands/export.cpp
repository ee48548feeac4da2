// hqmm export MODEL: a model as a quantum circuit.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "hqmm/circuit/write.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/io/atomic_file.hpp"
#include "hqmm/io/model_file.hpp"
#include "support/command.hpp"
#include "support/model_text.hpp"
#include "support/output.hpp"
#include "support/own_files.hpp"

namespace hqmm::cli {
namespace {

struct ExportFlags {
  CommonOptions common;
  std::string model;
  std::string format = "openqasm3";
  std::string initial = "auto";
  std::size_t steps = 0;
};

CircuitFormat format_of(const std::string& name) {
  if (name == "openqasm2") return CircuitFormat::kOpenQasm2;
  if (name == "qutip") return CircuitFormat::kQutip;
  return name == "npz" ? CircuitFormat::kNpz : CircuitFormat::kOpenQasm3;
}

Json cost_json(const Circuit& circuit) {
  const CircuitCost cost = cost_of(circuit);
  return {{"cnots", cost.cnots}, {"one_qubit_gates", cost.one_qubit_gates}, {"depth", cost.depth}};
}

Json report_of(const ExportFlags& options, const ModelCircuit& circuit) {
  Json out;
  out["format"] = options.format;
  out["out"] = options.common.out;
  out["qubits"] = circuit.qubits();
  out["system_qubits"] = circuit.system_qubits;
  out["environment_qubits"] = circuit.environment_qubits;
  out["measured_qubits"] = circuit.measured_qubits;
  out["outcomes_per_symbol"] = circuit.outcomes_per_symbol;
  out["symbols"] = circuit.order.size();
  out["prepare"] = cost_json(circuit.prepare);
  out["steps"] = Json::array();
  for (const CircuitStep& step : circuit.steps) {
    Json costs;
    costs["evolve"] = cost_json(step.evolve);
    if (step.emit) costs["emit"] = cost_json(*step.emit);
    out["steps"].push_back(std::move(costs));
  }
  return out;
}

std::string cost_text(const Circuit& circuit) {
  const CircuitCost cost = cost_of(circuit);
  return fmt::format("{} CNOTs, {} one-qubit gates, depth {}", cost.cnots, cost.one_qubit_gates,
                     cost.depth);
}

void narrate_costs(const ExportFlags& options, const ModelCircuit& circuit) {
  narrate(options.common,
          fmt::format("{} qubits: {} for the latent state, {} of environment; {} symbols",
                      circuit.qubits(), circuit.system_qubits, circuit.environment_qubits,
                      circuit.order.size()));
  narrate(options.common, "initial state: " + cost_text(circuit.prepare));
  for (std::size_t k = 0; k < circuit.steps.size(); ++k) {
    const CircuitStep& step = circuit.steps[k];
    const std::string which = circuit.stationary() ? "a step" : fmt::format("step of kind {}", k);
    narrate(options.common, fmt::format("{}: {}", which, cost_text(step.evolve)));
    if (step.emit)
      narrate(options.common, fmt::format("{}, its emission: {}", which, cost_text(*step.emit)));
  }
}

ModelCircuit circuit_of(const ExportFlags& options) {
  const ModelFile file = read_model(options.model);
  try {
    return model_circuit(
        file.model,
        {options.steps, options.initial == "pure" ? InitialCircuit::kPure : InitialCircuit::kAuto});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUsage) throw;
    throw error.at(Where{.file = options.model});
  }
}

void run_export(const ExportFlags& options) {
  require_other_files({{"-o", options.common.out}}, {{"MODEL", options.model}});
  const CircuitFormat format = format_of(options.format);
  if (options.common.out.empty() && (options.common.json || format == CircuitFormat::kNpz))
    throw fail(ErrorCode::kUsage, "name a file for the circuit: -o FILE");
  const ModelCircuit circuit = circuit_of(options);
  const std::string text = write_circuit(circuit, format);
  if (options.common.out.empty()) {
    Output output(Readers::kPrograms);
    output.write(text);
    output.finish();
  } else {
    write_file(options.common.out, text);
  }
  if (options.common.json) {
    Output output(Readers::kPrograms);
    output.write(dump(report_of(options, circuit)));
    output.finish();
  }
  narrate_costs(options, circuit);
}

}  // namespace

void add_export(Command program) {
  auto options = std::make_shared<ExportFlags>();
  Command command =
      program.add_subcommand("export", "Write a model as a quantum circuit: OpenQASM, QuTiP, NumPy")
          .group("Files");
  command.add_option("MODEL", options->model, "Model file").required().type_name("");
  command.add_option("--format", options->format, "What to write")
      .check(one_of({"openqasm3", "openqasm2", "qutip", "npz"}))
      .group("Circuit")
      .type_name("openqasm3|openqasm2|qutip|npz");
  command
      .add_option("--steps", options->steps,
                  "Symbols to emit; by default 10, or the length of the model's position map")
      .check(whole_number(1, 100000))
      .group("Circuit")
      .type_name("T");
  command
      .add_option("--initial", options->initial,
                  "auto: a mixed initial state by purification; pure: refuse a mixed one")
      .check(one_of({"auto", "pure"}))
      .group("Circuit")
      .type_name("auto|pure");
  command.add_option("-o,--out", options->common.out, "File to write; by default stdout")
      .group("Output")
      .type_name("");
  command.add_flag("--json", options->common.json, "Gate counts and depth as JSON on stdout")
      .group("Output");
  command.add_flag("--quiet", options->common.quiet, "No narration on stderr").group("Output");
  command.footer(R"(One step is a unitary on ceil(log2 n) + ceil(log2 sw) qubits; the environment is
measured and reset once per symbol. docs/quantum.md says more.
Examples:
  hqmm export model.h5 -o model.qasm --steps 20
  hqmm export model.h5 -o model.py --format qutip)");
  command.callback([options] { run_export(*options); });
}

}  // namespace hqmm::cli
