// Log-likelihoods of whole sets under a hidden quantum Markov model, by the forward half of the
// gradient's passes.
#pragma once

#include <vector>

#include "hqmm/model/likelihood.hpp"

namespace hqmm {

/// What log_likelihoods() gives for the model, up to rounding: every sequence of the set in order,
/// the same bytes at any thread count. Whether the alphabets mean the same is not looked at.
[[nodiscard]] std::vector<SequenceLikelihood> hqmm_log_likelihoods(const Hqmm& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in,
                                                                   int threads);

}  // namespace hqmm
