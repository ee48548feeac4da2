// Reference material beside the project: the numbers of an independent implementation
// (golden/hqmm_cases.json), the models that made the paper's data, and its table of step sizes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail::testing {

/// One case. Gradients are of the negative log-likelihood.
struct GoldenCase {
  Hqmm model;
  std::size_t burn_in = 0;
  std::vector<Symbol> symbols;

  double log_likelihood = 0.0;
  std::vector<double> probabilities;  // of the symbols after the burn-in
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

  [[nodiscard]] std::string name() const;
};

std::vector<GoldenCase> load_golden_cases(const std::filesystem::path& path);

/// The model that made the paper's HMM data, as its file has it.
struct HmmOnFile {
  RealMatrix transition, emission;
};
HmmOnFile load_true_hmm(const std::filesystem::path& path);

/// The Kraus stack that made the paper's HQMM data, of n = 2.
Stack load_true_kraus(const std::filesystem::path& path);

/// One row of the published table of step sizes.
struct TunedSteps {
  std::string benchmark;
  Index n = 0;
  std::size_t s = 0;
  Index w = 0;
  double step_size = 0.0;
  double step_decay = 0.0;
};
std::vector<TunedSteps> load_tuned_steps(const std::filesystem::path& path);

}  // namespace hqmm::detail::testing
