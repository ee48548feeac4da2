// Log-likelihoods of whole sets under a hidden Markov model, by the kernels of hmm_tile.hpp.
#pragma once

#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// What log_likelihoods() gives for the model, up to rounding: every sequence of the set in order,
/// the same bytes at any thread count and whatever else is in the set. Throws kBadData when a
/// symbol is beyond the model's; whether the alphabets mean the same is not looked at. Every share of
/// the work goes through all long sequences: elsewhere.hpp.
[[nodiscard]] std::vector<SequenceLikelihood> hmm_log_likelihoods(const Hmm& model,
                                                                  const SequenceSet& set,
                                                                  std::size_t burn_in, int threads,
                                                                  Share share = {});

}  // namespace hqmm::detail
