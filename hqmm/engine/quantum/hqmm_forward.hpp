// Log-likelihoods of whole sets under a hidden quantum Markov model, by the forward half of the
// gradient's passes.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// A step that leaves less than this of the weight may be an impossible symbol, since states are known to
/// about 1e-16: such a sequence is the filter's.
inline constexpr double kSuspectWeight = 1e-9;

class CudaEngine;

/// Takes likelihoods as they come: those of the sequences from `first` on, in order.
using LikelihoodSink =
    std::function<void(std::size_t first, std::span<const SequenceLikelihood> found)>;

/// What log_likelihoods() gives for the model, up to rounding: every sequence of the set in order,
/// the same bytes at any thread count. Whether the alphabets mean the same is not
/// looked at. Of a share of
/// the work the same bytes as of all of it: elsewhere.hpp.
[[nodiscard]] std::vector<SequenceLikelihood> hqmm_log_likelihoods(const Hqmm& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in, int threads,
                                                                   Share share = {},
                                                                   CudaEngine* gpu = nullptr);

/// The same without holding them all; by `gpu`, if there is one, which takes feasible models only.
void hqmm_log_likelihoods(const Hqmm& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink, Share share = {},
                          CudaEngine* gpu = nullptr);

}  // namespace hqmm::detail
