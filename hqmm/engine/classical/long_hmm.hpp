// One long sequence under a hidden Markov model (engine/long_sequence.hpp).
#pragma once

#include <optional>

#include "hqmm/engine/word_table.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// diag(C_y) A, or T_y, with that of a missing symbol if wanted.
[[nodiscard]] LinearModel linear_model(const Hmm& model, bool missing);
[[nodiscard]] LinearModel linear_model(const EdgeHmm& model, bool missing);

/// What a filter gives, up to rounding. Nothing when the sequence is to be walked, because that is
/// cheaper or because this could be wrong.
template <typename Model>
[[nodiscard]] std::optional<SequenceLikelihood> long_hmm_log_likelihood(
    const Model& model, const SequenceView& sequence, std::size_t burn_in, int threads);

}  // namespace hqmm::detail
