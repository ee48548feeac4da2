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

/// Steps are those of hooks.make_rule, if it is there, and hooks.on_step is told of them. Keeps references to the data and the chunks. Throws kUsage when the engine that the options ask
/// for does not fit: found out before the first epoch, not in the middle of it.
[[nodiscard]] std::unique_ptr<Learner> make_learner(const AnyModel& start, std::size_t restart,
                                                    const PlannedData& data, const Chunks& chunks,
                                                    const TrainOptions& options,
                                                    const TrainHooks& hooks = {},
                                                    CudaEngine* gpu = nullptr);

}  // namespace hqmm::detail
