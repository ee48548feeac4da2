// The likelihood of one sequence by a filter.
#pragma once

#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// The first burn_in symbols move the state and are not scored.
template <typename Filter>
[[nodiscard]] SequenceLikelihood log_likelihood(Filter& filter, const SequenceView& sequence,
                                                std::size_t burn_in);

/// Throws kBadData when the set's symbols are not the model's.
void require_fitting(const AnyModel& model, const SequenceSet& set);
/// The alphabets alone: every symbol is known to be one of its alphabet.
void require_fitting_alphabet(const AnyModel& model, const SequenceSet& set);

}  // namespace hqmm::detail
