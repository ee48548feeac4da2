// Log-likelihoods of whole sets under a hidden quantum Markov model, by the forward half of the
// gradient's passes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// Takes likelihoods as they come: those of the sequences from `first` on, in order.
using LikelihoodSink =
    std::function<void(std::size_t first, std::span<const SequenceLikelihood> found)>;

/// What log_likelihoods() gives for the model, up to rounding: every sequence of the set in order,
/// the same bytes at any thread count. Whether the alphabets mean the same is not looked at.
[[nodiscard]] std::vector<SequenceLikelihood> hqmm_log_likelihoods(const Hqmm& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in,
                                                                   int threads);

/// The same without holding them all.
void hqmm_log_likelihoods(const Hqmm& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink);

}  // namespace hqmm::detail
