// Training by several processes (core/ranks.hpp). Rank 0 trains; the others, which have the same
// data and options, help it:
//
//   one restart    E steps, gradients of large batches and scores are shared
//   several        an epoch of each at a time is a cell: a restart goes to any free rank,
//                  with everything it needs to continue, as from a checkpoint
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hqmm/data/chunks.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail {

// The names of tasks.
inline constexpr const char* kTrainScoreTask = "score train";
inline constexpr const char* kValidationScoreTask = "score validation";
inline constexpr const char* kEpochsTask = "cells epochs";

/// What another rank does for trainings on this data, with options for each learner that it may be
/// asked for. Keeps references to all of them.
[[nodiscard]] RankTasks training_tasks(Ranks& ranks, const PlannedData& data, const Chunks& chunks,
                                       std::span<const TrainOptions> options, int threads);

/// A restart that continues on another rank for an epoch.
struct EpochOrder {
  std::size_t restart = 0;
  std::size_t epoch = 0;
  AnyModel start;
  LearnerState state;  // none before the first epoch
};
/// What came of it. A model and its score unless the restart diverged.
struct EpochReturn {
  EpochOutcome outcome;
  std::optional<Divergence> diverged;
  LearnerState state;
  AnyModel candidate;
  Score score;
};

[[nodiscard]] std::string pack_orders(LearnerKind learner, std::span<const EpochOrder> orders);
[[nodiscard]] EpochReturn unpack_return(std::string_view bytes);

}  // namespace hqmm::detail
