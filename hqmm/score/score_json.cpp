#include "hqmm/score/score_json.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/io/json_number.hpp"

namespace hqmm::detail {

nlohmann::ordered_json score_json(const Score& score) {
  nlohmann::ordered_json out;
  out["sequences"] = score.sequences;
  out["symbols"] = score.symbols;
  out["log_likelihood"] = number(score.log_likelihood);
  out["da_mean"] = number(score.da_mean);
  out["da_std"] = number(score.da_std);
  out["bits_per_symbol"] = number(score.bits_per_symbol);
  out["perplexity"] = number(score.perplexity);
  out["feasibility_residual"] = score.feasibility_residual;
  out["raw"] = nullptr;
  if (score.raw) {
    out["raw"] = {{"log_likelihood", number(score.raw->log_likelihood)},
                  {"da_mean", number(score.raw->da_mean)},
                  {"bits_per_symbol", number(score.raw->bits_per_symbol)}};
  }
  out["skipped_sequences"] = score.skipped;
  out["impossible_sequences"] = score.impossible;
  return out;
}

}  // namespace hqmm::detail
