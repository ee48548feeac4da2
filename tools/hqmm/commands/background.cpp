#include "commands/background.hpp"

#include <cmath>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/score/score.hpp"
#include "support/model_text.hpp"

namespace hqmm::cli {
namespace {

/// f of every symbol: how often it is in the data. Members of a set count in equal parts.
std::vector<double> frequencies(const SequenceSet& set) {
  const std::size_t s = set.alphabet().size();
  std::vector<double> counts(s, 0.0);
  double all = 0.0;
  for (std::size_t k = 0; k < set.symbol_count(); ++k) {
    const Symbol symbol = set.symbols()[k];
    if (symbol == kMissing) continue;
    const SymbolMembers seen = members(s, symbol);
    for (const Symbol y : seen) counts[y] += 1.0 / static_cast<double>(seen.size());
    all += 1.0;
  }
  for (double& count : counts) count /= all;
  return counts;
}

/// log f of every symbol and set; −∞ of what never is in the data, and never asked for.
std::vector<double> logs_of(const std::vector<double>& frequencies) {
  const std::size_t s = frequencies.size();
  std::vector<double> out(s + set_letters(s).size(), 0.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto number = static_cast<Symbol>(i);
    for (const Symbol y : members(s, number)) out[i] += frequencies[y];
    out[i] = std::log(out[i]);
  }
  return out;
}

std::vector<double> by_symbols(const std::vector<double>& frequencies, const SequenceSet& set,
                               std::size_t burn_in) {
  const std::vector<double> logs = logs_of(frequencies);
  std::vector<double> out(set.size(), 0.0);
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t t = burn_in; t < set[i].size(); ++t)
      if (set[i][t] != kMissing) out[i] += logs[set[i][t]];
  }
  return out;
}

}  // namespace

std::vector<double> background_log_likelihoods(const std::string& background,
                                               const SequenceSet& set, std::size_t burn_in,
                                               int threads) {
  const std::size_t s = set.alphabet().size();
  if (background == "uniform") {
    return by_symbols(std::vector<double>(s, 1.0 / static_cast<double>(s)), set, burn_in);
  }
  if (background == "frequencies") return by_symbols(frequencies(set), set, burn_in);
  const ModelFile file = read_model(background);
  if (!(alphabet_of(file.model) == set.alphabet())) {
    throw fail(ErrorCode::kUsage, Where{.file = background},
               "the background's alphabet is {}, not the model's ({})",
               alphabet_of(file.model).description(), set.alphabet().description());
  }
  warn_if_infeasible(file.model, background);
  std::vector<double> out;
  for (const SequenceLikelihood& one :
       score(file.model, set, {.burn_in = burn_in, .threads = threads}).per_sequence)
    out.push_back(one.log_likelihood);
  return out;
}

}  // namespace hqmm::cli
