// The reference numbers of an independent implementation: golden/hqmm_cases.json beside the
// project.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hqmm/model/hqmm.hpp"

namespace hqmm::testing {

/// One case. Gradients are of the negative log-likelihood.
struct GoldenCase {
  Hqmm model;
  std::size_t burn_in = 0;
  std::vector<Symbol> symbols;

  double log_likelihood = 0.0;
  std::vector<double> probabilities;  // of the symbols behind the burn-in
  Matrix final_state;

  Stack gradient;  // stopped at the burn-in; (s·w·n) × n like every stack below
  Stack gradient_through_burn_in;
  Stack projected_gradient;
  Stack ns_literal_5;
  Stack polar_of_momentum;
  double step_size = 0.0;
  Stack feasible_step;
  Stack literal_step;
  Stack cayley_step;

  [[nodiscard]] std::string name() const {
    return "n=" + std::to_string(model.latent_dim()) +
           " s=" + std::to_string(model.alphabet_size()) +
           " w=" + std::to_string(model.kraus_rank());
  }
};

/// Nested arrays whose innermost pairs are (re, im), flattened in the order written: the same for
/// [s][w][n][n][2] and [s·w·n][n][2].
inline void append_complex(const nlohmann::json& node, std::vector<Complex>& out) {
  if (node.at(0).is_number()) {
    out.emplace_back(node.at(0).get<double>(), node.at(1).get<double>());
    return;
  }
  for (const auto& child : node) append_complex(child, out);
}

inline Stack stack_from_json(const nlohmann::json& node, Index columns) {
  std::vector<Complex> entries;
  append_complex(node, entries);
  return Eigen::Map<const Stack>(entries.data(), static_cast<Index>(entries.size()) / columns,
                                 columns);
}

inline GoldenCase golden_case_from_json(const nlohmann::json& json) {
  const Index n = json.at("n");
  const auto stack = [&](const char* key) { return stack_from_json(json.at(key), n); };
  GoldenCase out;
  out.model =
      stationary_hqmm(Alphabet::integers(json.at("s").get<std::size_t>()),
                      KrausSet(json.at("s"), json.at("w"), stack("kraus")), stack("initial_state"));
  out.burn_in = json.at("burn_in");
  out.symbols = json.at("symbols").get<std::vector<Symbol>>();
  out.log_likelihood = json.at("log_likelihood");
  out.probabilities = json.at("probabilities").get<std::vector<double>>();
  out.final_state = stack("final_state");
  out.gradient = stack("gradient");
  out.gradient_through_burn_in = stack("gradient_through_burn_in");
  out.projected_gradient = stack("projected_gradient");
  out.ns_literal_5 = stack("ns_literal_5");
  out.polar_of_momentum = stack("polar_of_momentum");
  out.step_size = json.at("step_size");
  out.feasible_step = stack("feasible_step");
  out.literal_step = stack("literal_step");
  out.cayley_step = stack("cayley_step");
  return out;
}

template <typename Path>
std::vector<GoldenCase> load_golden_cases(const Path& path) {
  std::ifstream file(path);
  std::vector<GoldenCase> out;
  for (const auto& json : nlohmann::json::parse(file)) out.push_back(golden_case_from_json(json));
  return out;
}

}  // namespace hqmm::testing
