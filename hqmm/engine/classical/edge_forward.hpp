// Likelihoods of a set under a model that emits on its edges.
#pragma once

#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// There must be no sets (symbol_sets.hpp). Shares are those of hmm_log_likelihoods().
[[nodiscard]] std::vector<SequenceLikelihood> edge_log_likelihoods(const EdgeHmm& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in, int threads,
                                                                   Share share = {});

}  // namespace hqmm::detail
