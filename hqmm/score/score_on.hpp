// score() on a device that is open already.
#pragma once

#include "hqmm/core/ranks.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail {

/// Other processes that have the same set and help with likelihood_task() under this name
/// (engine/likelihood.hpp).
struct ScoringRanks {
  Ranks* ranks = nullptr;
  const char* task = "score";
};

/// `gpu`: as fast_log_likelihoods() of engine/likelihood.hpp takes it; `options.device` is not looked at.
[[nodiscard]] Score score_on(const AnyModel& model, const SequenceSet& set,
                             const ScoreOptions& options, CudaEngine* gpu,
                             ScoringRanks others = {});

}  // namespace hqmm::detail
