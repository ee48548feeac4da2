#include "hqmm/evaluate/chain_baseline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "hqmm/core/parallel.hpp"
#include "hqmm/evaluate/context_chain.hpp"
#include "hqmm/io/json_number.hpp"

namespace hqmm::detail {
namespace {

ChainScore measure_chain(const ChainOptions& options, const ContextChain& chain,
                         const SequenceSet& data, std::size_t order, double pseudo_count) {
  ChainScore out;
  out.order = order;
  out.pseudo_count = pseudo_count;
  out.parameters = chain.parameters(order);
  out.log_likelihoods.resize(data.size());
  parallel_for(data.size(), options.threads, [&](std::size_t i) {
    out.log_likelihoods[i] = chain.log_likelihood(data[i], order, pseudo_count, options.burn_in);
  });
  double sum = 0.0;
  std::size_t symbols = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::size_t scored = 0;
    for (std::size_t t = options.burn_in; t < data[i].size(); ++t)
      if (data[i][t] != kMissing) ++scored;
    out.scored.push_back(scored);
    symbols += scored;
    sum += out.log_likelihoods[i];
  }
  out.bits = -sum / (std::numbers::ln2 * static_cast<double>(symbols));
  return out;
}

/// By validation among powers of two, or as given.
double choose_pseudo_count(const ChainOptions& options, const ContextChain& chain,
                           const SequenceSet* validation, std::size_t order) {
  if (validation == nullptr) return options.pseudo_count;
  constexpr int kSmallest = -10, kLargest = 10;
  double best = options.pseudo_count;
  double fewest = std::numeric_limits<double>::infinity();
  for (int exponent = kSmallest; exponent <= kLargest; ++exponent) {
    const double candidate = std::ldexp(1.0, exponent);
    const double bits = measure_chain(options, chain, *validation, order, candidate).bits;
    if (bits < fewest) {
      fewest = bits;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

std::vector<ChainScore> chain_baseline(const SequenceSet& train, const SequenceSet& data,
                                       const SequenceSet* validation, const ChainOptions& options) {
  const ContextChain chain(train, *std::max_element(options.orders.begin(), options.orders.end()));
  std::vector<ChainScore> out;
  for (const std::size_t order : options.orders) {
    const double pseudo_count = choose_pseudo_count(options, chain, validation, order);
    out.push_back(measure_chain(options, chain, data, order, pseudo_count));
  }
  return out;
}

nlohmann::ordered_json chains_json(const std::vector<ChainScore>& chains, std::size_t burn_in,
                                   bool per_sequence) {
  using Json = nlohmann::ordered_json;
  Json out;
  out["burn_in"] = burn_in;
  out["chains"] = Json::array();
  for (const ChainScore& chain : chains) {
    Json one;
    one["order"] = chain.order;
    one["pseudo_count"] = chain.pseudo_count;
    one["parameters"] = chain.parameters;
    one["bits_per_symbol"] = number(chain.bits);
    for (std::size_t i = 0; per_sequence && i < chain.scored.size(); ++i) {
      one["per_sequence"].push_back(
          {{"symbols", chain.scored[i]}, {"log_likelihood", number(chain.log_likelihoods[i])}});
    }
    out["chains"].push_back(std::move(one));
  }
  return out;
}

}  // namespace hqmm::detail
