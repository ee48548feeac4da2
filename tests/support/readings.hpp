// Sequences with symbols that stand for several, and all that they can be read as.
#pragma once

#include <functional>
#include <vector>

#include "hqmm/core/random.hpp"
#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail::testing {

using Symbols = std::vector<Symbol>;

/// Mostly nucleotides; the rest is missing or any of their sets.
Symbols with_sets(std::size_t length, RandomStream& random, double missing_share = 0.1);

/// Every sequence without sets that this one can be. What is missing stays so.
void for_each_reading(const Symbols& symbols, const std::function<void(const Symbols&)>& each);

SequenceSet dna(const std::vector<Symbols>& sequences);

}  // namespace hqmm::detail::testing
