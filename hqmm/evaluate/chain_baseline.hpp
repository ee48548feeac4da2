// What Markov chains make of data, to compare models with: bits per symbol by order of the chain,
// the smoothing given or chosen by validation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail {

struct ChainOptions {
  std::vector<std::size_t> orders{0, 1, 2, 3, 4, 5, 6, 7};
  double pseudo_count = 1.0;  // where no validation data choose it
  std::size_t burn_in = 0;    // symbols that are context and not scored
  int threads = 0;
};

/// A chain of one order.
struct ChainScore {
  std::size_t order = 0;
  double pseudo_count = 0.0;
  std::size_t parameters = 0;
  std::vector<double> log_likelihoods;  // by sequence
  std::vector<std::size_t> scored;
  double bits = 0.0;  // per symbol; not a number when none is scored
};

/// Chains counted in `train` and scored on `data`, one for each order. With validation data every
/// order has the pseudo count that does best on them, of 2⁻¹⁰ … 2¹⁰. All sets are of one alphabet.
[[nodiscard]] std::vector<ChainScore> chain_baseline(const SequenceSet& train,
                                                     const SequenceSet& data,
                                                     const SequenceSet* validation,
                                                     const ChainOptions& options);

/// As `hqmm baseline --json` prints them.
[[nodiscard]] nlohmann::ordered_json chains_json(const std::vector<ChainScore>& chains,
                                                 std::size_t burn_in, bool per_sequence);

}  // namespace hqmm::detail
