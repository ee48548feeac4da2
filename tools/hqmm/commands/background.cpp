#include "commands/background.hpp"

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/score/score.hpp"
#include "support/model_text.hpp"

namespace hqmm::cli {
namespace {

/// log f of every symbol, by how often it is in the set; −∞ of one that never is, which is never
/// asked for.
std::vector<double> log_frequencies(const SequenceSet& set) {
  std::vector<double> counts(set.alphabet().size(), 0.0);
  double all = 0.0;
  for (std::size_t k = 0; k < set.symbol_count(); ++k) {
    const Symbol symbol = set.symbols()[k];
    if (symbol == kMissing) continue;
    counts[symbol] += 1.0;
    all += 1.0;
  }
  for (double& count : counts) count = std::log(count / all);
  return counts;
}

std::vector<double> by_symbols(const std::vector<double>& logs, const SequenceSet& set,
                               std::size_t burn_in) {
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
    const std::vector<double> logs(s, -std::log(static_cast<double>(s)));
    return by_symbols(logs, set, burn_in);
  }
  if (background == "frequencies") return by_symbols(log_frequencies(set), set, burn_in);
  const ModelFile file = read_model(background);
  if (!(alphabet_of(file.model) == set.alphabet())) {
    throw fail(ErrorCode::kUsage, Where{.file = background},
               "the background's alphabet is {}, not the model's ({})",
               alphabet_of(file.model).description(), set.alphabet().description());
  }
  warn_if_infeasible(file.model, background);
  std::vector<double> out;
  for (const SequenceLikelihood& one : score(file.model, set, burn_in, threads).per_sequence)
    out.push_back(one.log_likelihood);
  return out;
}

}  // namespace hqmm::cli
