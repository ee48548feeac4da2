// Sets whose groups and classes are known, for the tests of grouping, folds and held-out shares.
#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hqmm/data/folds.hpp"

namespace hqmm::testing {

using Indices = std::vector<std::uint32_t>;

inline constexpr Grouping kNone{Grouping::Kind::kNone, 0};
inline constexpr Grouping kIdentical{Grouping::Kind::kIdentical, 0};

inline Grouping homology(std::size_t matches) { return {Grouping::Kind::kHomology, matches}; }

/// `sizes[c]` lists the sizes of the groups of class c: a group is one sequence, repeated.
inline SequenceSet set_of_groups(const std::vector<std::vector<std::size_t>>& sizes) {
  SequenceSet set(Alphabet::integers(1000));
  Symbol group = 0;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    for (const std::size_t size : sizes[c]) {
      for (std::size_t i = 0; i < size; ++i) {
        set.push_back(group);
        set.end_sequence_labelled("class" + std::to_string(c));
      }
      ++group;
    }
  }
  return set;
}

inline SequenceSet distinct_set(std::size_t size) {
  return set_of_groups({std::vector<std::size_t>(size, 1)});
}

inline std::size_t group_count(const Indices& group) {
  return std::set(group.begin(), group.end()).size();
}

/// count[c] for one class after another, over the sequences `chosen`.
inline std::vector<std::size_t> class_counts(const SequenceSet& set, const Indices& chosen) {
  std::vector<std::size_t> counts(set.classes().size());
  for (const std::uint32_t i : chosen) ++counts.at(set.label(i));
  return counts;
}

inline Indices members(const Indices& fold, std::uint32_t wanted) {
  Indices out;
  for (std::uint32_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == wanted) out.push_back(i);
  }
  return out;
}

inline rc::Gen<std::vector<std::vector<std::size_t>>> group_sizes() {
  // Up to thirty classes, each with up to thirty groups of one to six sequences.
  const auto sizes =
      rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 7));
  return rc::gen::scale(
      0.3, rc::gen::nonEmpty(rc::gen::container<std::vector<std::vector<std::size_t>>>(sizes)));
}

inline std::size_t largest(const std::vector<std::size_t>& sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

}  // namespace hqmm::testing
