// Sets whose groups and classes are known, for the tests of grouping, folds and held-out shares.
#pragma once

#include <vector>

#include "hqmm/data/folds.hpp"
#include "support/property.hpp"

namespace hqmm::detail::testing {

using Indices = std::vector<std::uint32_t>;

inline constexpr Grouping kNone{Grouping::Kind::kNone, 0};
inline constexpr Grouping kIdentical{Grouping::Kind::kIdentical, 0};

Grouping homology(std::size_t matches);

/// `sizes[c]` lists the sizes of the groups of class c: a group is one sequence, repeated.
SequenceSet set_of_groups(const std::vector<std::vector<std::size_t>>& sizes);

SequenceSet distinct_set(std::size_t size);

std::size_t group_count(const Indices& group);

/// count[c] for one class after another, over the sequences `chosen`.
std::vector<std::size_t> class_counts(const SequenceSet& set, const Indices& chosen);

Indices members(const Indices& fold, std::uint32_t wanted);

/// Up to thirty classes, each with up to thirty groups of one to six sequences; two groups at
/// least.
std::vector<std::vector<std::size_t>> group_sizes(Draw& draw);

std::size_t largest(const std::vector<std::size_t>& sizes);

}  // namespace hqmm::detail::testing
