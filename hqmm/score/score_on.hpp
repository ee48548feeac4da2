// score() on a device that is open already.
#pragma once

#include "hqmm/engine/device.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail {

/// `gpu`: as fast_log_likelihoods() of engine/likelihood.hpp takes it; `options.device` is not looked at.
[[nodiscard]] Score score_on(const AnyModel& model, const SequenceSet& set,
                             const ScoreOptions& options, CudaEngine* gpu);

}  // namespace hqmm::detail
