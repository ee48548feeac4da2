// Log-likelihood of sequences under a model: Σ_t log P(y_t | past), natural logarithms.
#pragma once

#include <optional>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct SequenceLikelihood {
  std::uint64_t scored = 0;         // symbols after the burn-in that are not missing
  double log_likelihood = 0.0;      // normalised; −∞ when a scored symbol has probability 0
  double raw_log_likelihood = 0.0;  // un-normalised: equal to the above for a feasible model
  std::optional<std::uint64_t>
      impossible_at;  // position of the first scored symbol of probability 0
};

/// Every sequence of a set, in order, by the filters; engine/likelihood.hpp does it faster. Same
/// numbers at any thread count. Throws kBadData if the set's symbols do not match the model's
/// alphabet.
[[nodiscard]] std::vector<SequenceLikelihood> log_likelihoods(const AnyModel& model,
                                                              const SequenceSet& set,
                                                              std::size_t burn_in, int threads);

/// Description accuracy of one sequence, f(1 + ℓ/(len·ln s)) with f(x) = x for x > 0 and tanh(x/8)
/// below; nothing if it has no scored symbol or the alphabet has only one symbol.
[[nodiscard]] std::optional<double> description_accuracy(double log_likelihood,
                                                         std::uint64_t scored,
                                                         std::size_t alphabet_size);

}  // namespace hqmm
