// The classes of labelled data as classifiers number them, and how frequent they are taken to be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/classifier_learner.hpp"

namespace hqmm::detail {

/// Throws kBadData unless every row has a class and there are at least two.
void require_labelled(const SequenceSet& data);

/// The classes that have rows, in byte order of their names, and each row's place in that order.
struct OrderedClasses {
  std::vector<std::string> names;
  std::vector<std::uint32_t> labels;
};
[[nodiscard]] OrderedClasses ordered_classes(const SequenceSet& data);

/// The prior of each class; `counts` are its rows, `given` is used for kGiven only. Throws kUsage
/// if a class was not given one.
[[nodiscard]] std::vector<double> class_priors(PriorKind kind, const std::vector<double>& given,
                                               const std::vector<std::size_t>& counts);

}  // namespace hqmm::detail
