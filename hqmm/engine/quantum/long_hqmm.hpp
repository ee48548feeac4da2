// One long sequence under a hidden quantum Markov model (engine/long_sequence.hpp).
#pragma once

#include <optional>

#include "hqmm/model/hqmm.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// What a filter gives, up to rounding, for a feasible stationary model. Nothing when the sequence
/// is to be walked, because that is cheaper or because this could be wrong.
[[nodiscard]] std::optional<SequenceLikelihood> long_hqmm_log_likelihood(
    const Hqmm& model, const SequenceView& sequence, std::size_t burn_in, int threads);

}  // namespace hqmm::detail
