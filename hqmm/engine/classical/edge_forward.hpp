// Likelihoods of a set under a model that emits on its edges.
#pragma once

#include <vector>

#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// There must be no sets (symbol_sets.hpp).
[[nodiscard]] std::vector<SequenceLikelihood> edge_log_likelihoods(const EdgeHmm& model,
                                                                   const SequenceSet& set,
                                                                   std::size_t burn_in,
                                                                   int threads);

}  // namespace hqmm::detail
