// Which sequences a Grouping keeps together.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/data/folds.hpp"

namespace hqmm::detail {

/// group[i] for every sequence, numbered by first appearance. Homology compares sequences of the
/// same length position by position; a missing symbol matches nothing. Equal sequences always share
/// a group under kIdentical and kHomology. Homology compares all pairs: N²L/2 symbols for N
/// distinct sequences.
[[nodiscard]] std::vector<std::uint32_t> group_sequences(const SequenceSet& set,
                                                         const Grouping& grouping);

}  // namespace hqmm::detail
