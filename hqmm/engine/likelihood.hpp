// Log-likelihoods of whole sets by the fast forward passes: what validation and scoring call.
//
// The numbers are those of model/likelihood.hpp up to rounding. A sequence with a symbol so
// improbable that it may be impossible but for rounding goes through the filter, which knows. A
// mixture (model/mixture.hpp) costs what its members do.
#pragma once

#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/quantum/hqmm_forward.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// Every sequence of a set, in order; the first burn_in symbols move the state and are not scored.
/// Same bytes at any thread count. Throws kBadData when the set's symbols are not the model's.
/// Memory: a few megabytes per thread, whatever the set, but for a position-dependent model, which
/// needs four bytes per symbol of its longest sequence. Of a share of the work, what is not in it is
/// elsewhere (elsewhere.hpp). By `gpu`, if there is one: it takes HQMMs that are feasible, and no
/// symbols that stand for several; kUsage for others.
[[nodiscard]] std::vector<SequenceLikelihood> fast_log_likelihoods(const AnyModel& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in, int threads,
                                                                   Share share = {},
                                                                   CudaEngine* gpu = nullptr);

/// The same, given away as they come: for a model of one member (no mixture) they are never all
/// held at once.
void fast_log_likelihoods(const AnyModel& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink, Share share = {},
                          CudaEngine* gpu = nullptr);

/// The same by several processes (core/ranks.hpp): the task with which each of them helps, and what
/// rank 0 asks of all. The bytes are those of one process.
[[nodiscard]] RankTask likelihood_task(const SequenceSet& set, Share share, int threads);
[[nodiscard]] std::vector<SequenceLikelihood> ask_log_likelihoods(Ranks& ranks,
                                                                  const std::string& task,
                                                                  const AnyModel& model,
                                                                  const SequenceSet& set,
                                                                  std::size_t burn_in, int threads);

}  // namespace hqmm::detail
