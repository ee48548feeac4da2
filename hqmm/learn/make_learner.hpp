// The learner that the options name.
#pragma once

#include <memory>

#include "hqmm/data/chunks.hpp"
#include "hqmm/engine/device.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

/// Uses the rule of hooks.make_rule, if set, and reports its steps to hooks.on_step. Keeps
/// references to the data and the chunks. Throws kUsage if the engine of the options cannot be
/// used: before the first epoch, not in the middle of it.
[[nodiscard]] std::unique_ptr<Learner> make_learner(const AnyModel& start, std::size_t restart,
                                                    const PlannedData& data, const Chunks& chunks,
                                                    const TrainOptions& options,
                                                    const TrainHooks& hooks = {},
                                                    CudaEngine* gpu = nullptr);

}  // namespace hqmm::detail
