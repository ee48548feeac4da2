// What a training run makes of its data: a share held out for validation, chunks and burn-ins, and
// whether anything is left to learn from and to select by. Made once per run and passed on.
#pragma once

#include <cstdint>
#include <string>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm::detail {

/// A validation share split off when the user has none: some sequences (equal ones stay together),
/// or the tail of a single long one. `how` says which, for people.
struct ValidationSplit {
  SequenceSet train;
  SequenceSet validation;
  std::string how;
};
[[nodiscard]] ValidationSplit split_validation(const SequenceSet& set, double share,
                                               std::uint64_t seed);

/// What `auto` became for this data.
struct DataPlan {
  std::size_t chunk_length = 0;  // 0: whole sequences
  std::size_t burn_in = 0;
  std::size_t validation_burn_in = 0;
};
/// Validation sequences longer than 600 get a burn-in of a third of the shortest of them, at most
/// 1000.
[[nodiscard]] DataPlan plan_data(const SequenceSet& train, const SequenceSet& validation,
                                 const TrainOptions& options);

/// The sets of a run with their plan. Refers to sets that live elsewhere.
struct PlannedData {
  const SequenceSet& train;
  const SequenceSet& validation;
  DataPlan plan;
};

/// Throws kBadData for a set that no run could read: one built by hand may hold anything.
void require_trainable(const SequenceSet& set);

/// Throws kBadData when every symbol is missing. `what`: "training data", for the message.
void require_known_symbols(const SequenceSet& set, const char* what);

// Both throw kBadData when nothing is left after the burn-in.

/// Training needs a position: a symbol that is missing there still moves the state. EM has no
/// burn-in.
void require_something_to_learn(const PlannedData& data, LearnerKind learner);
/// Validation needs a known symbol: without a score every model is as good as the one training
/// started from.
void require_something_to_score(const PlannedData& data);

}  // namespace hqmm::detail
