#include "support/golden.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace hqmm::detail::testing {
namespace {

/// Nested arrays whose innermost pairs are (re, im), flattened in the order written: the same for
/// [s][w][n][n][2] and [s·w·n][n][2].
void append_complex(const nlohmann::json& node, std::vector<Complex>& out) {
  if (node.at(0).is_number()) {
    out.emplace_back(node.at(0).get<double>(), node.at(1).get<double>());
    return;
  }
  for (const auto& child : node) append_complex(child, out);
}

Stack stack_from_json(const nlohmann::json& node, Index columns) {
  std::vector<Complex> entries;
  append_complex(node, entries);
  return Eigen::Map<const Stack>(entries.data(), static_cast<Index>(entries.size()) / columns,
                                 columns);
}

GoldenCase golden_case_from_json(const nlohmann::json& json) {
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

RealMatrix real_matrix(const nlohmann::json& rows) {
  RealMatrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) {
      out(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
    }
  }
  return out;
}

nlohmann::json parsed(const std::filesystem::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace

std::string GoldenCase::name() const {
  return "n=" + std::to_string(model.latent_dim()) + " s=" + std::to_string(model.alphabet_size()) +
         " w=" + std::to_string(model.kraus_rank());
}

std::vector<GoldenCase> load_golden_cases(const std::filesystem::path& path) {
  std::vector<GoldenCase> out;
  for (const auto& json : parsed(path)) out.push_back(golden_case_from_json(json));
  return out;
}

HmmOnFile load_true_hmm(const std::filesystem::path& path) {
  const nlohmann::json json = parsed(path);
  return {real_matrix(json.at("transition_column_stochastic")),
          real_matrix(json.at("emission_column_stochastic"))};
}

Stack load_true_kraus(const std::filesystem::path& path) {
  return stack_from_json(parsed(path).at("kraus"), 2);
}

std::vector<TunedSteps> load_tuned_steps(const std::filesystem::path& path) {
  std::vector<TunedSteps> out;
  const nlohmann::json table = parsed(path);
  for (const auto& [benchmark, rows] : table.at("tuned").items()) {
    for (const auto& row : rows) {
      out.push_back({benchmark, row.at("n"), row.at("s"), row.at("w"), row.at("step_size"),
                     row.at("step_decay")});
    }
  }
  return out;
}

}  // namespace hqmm::detail::testing
