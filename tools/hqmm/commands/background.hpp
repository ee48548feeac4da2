// What a model's likelihood is held against in `hqmm score`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// The log-likelihood of every sequence under "uniform", "frequencies" (of the symbols of the set
/// itself) or the model in a file, of the same symbols as a model scores: those past the burn-in
/// that are not missing. Throws kUsage for a model of another alphabet.
[[nodiscard]] std::vector<double> background_log_likelihoods(const std::string& background,
                                                             const SequenceSet& set,
                                                             std::size_t burn_in, int threads);

}  // namespace hqmm::cli
