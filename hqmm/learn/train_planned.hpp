// train() on data whose plan is made already.
#pragma once

#include <optional>

#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/trainer.hpp"

namespace hqmm::detail {

/// Throws kUsage or kBadData when the run cannot start; divergence is a status, not an error.
[[nodiscard]] TrainResult train_planned(const PlannedData& data, const TrainOptions& options,
                                        const TrainHooks& hooks = {}, const TrainStart& start = {});

}  // namespace hqmm::detail
