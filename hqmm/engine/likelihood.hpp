// Log-likelihoods of whole sets by the fast forward passes: what validation and scoring call.
//
// The numbers are those of model/likelihood.hpp up to rounding. A sequence with a symbol so
// improbable that it may be impossible but for rounding goes through the filter, which knows. A
// mixture (model/mixture.hpp) costs what its members do.
#pragma once

#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/quantum/hqmm_forward.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// Every sequence of a set, in order; the first burn_in symbols move the state and are not scored.
/// Same bytes at any thread count. Throws kBadData when the set's symbols are not the model's.
/// Memory: a few megabytes per thread, whatever the set, but for a position-dependent model, which
/// needs four bytes per symbol of its longest sequence.
[[nodiscard]] std::vector<SequenceLikelihood> fast_log_likelihoods(const AnyModel& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in,
                                                                   int threads);

/// The same, given away as they come: for a model of one member (no mixture) they are never all
/// held at once.
void fast_log_likelihoods(const AnyModel& model, const SequenceSet& set, std::size_t burn_in,
                          int threads, const LikelihoodSink& sink);

}  // namespace hqmm::detail
