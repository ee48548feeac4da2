#include "support/grouped_sets.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace hqmm::detail::testing {

Grouping homology(std::size_t matches) { return {Grouping::Kind::kHomology, matches}; }

SequenceSet set_of_groups(const std::vector<std::vector<std::size_t>>& sizes) {
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

SequenceSet distinct_set(std::size_t size) {
  return set_of_groups({std::vector<std::size_t>(size, 1)});
}

std::size_t group_count(const Indices& group) {
  return std::set(group.begin(), group.end()).size();
}

std::vector<std::size_t> class_counts(const SequenceSet& set, const Indices& chosen) {
  std::vector<std::size_t> counts(set.classes().size());
  for (const std::uint32_t i : chosen) ++counts.at(set.label(i));
  return counts;
}

Indices members(const Indices& fold, std::uint32_t wanted) {
  Indices out;
  for (std::uint32_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == wanted) out.push_back(i);
  }
  return out;
}

std::vector<std::vector<std::size_t>> group_sizes(Draw& draw) {
  std::vector<std::vector<std::size_t>> out(1 + draw.length(30));
  for (auto& sizes : out) {
    sizes.resize(draw.length(30));
    for (std::size_t& size : sizes) size = draw.between(1, 6);
  }
  out.back().push_back(draw.between(1, 6));
  out.front().push_back(draw.between(1, 6));
  return out;
}

std::size_t largest(const std::vector<std::size_t>& sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

}  // namespace hqmm::detail::testing
