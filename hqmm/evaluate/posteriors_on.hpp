// posteriors_of() on a device that is open already.
#pragma once

#include "hqmm/engine/device.hpp"
#include "hqmm/evaluate/classification.hpp"

namespace hqmm::detail {

/// `gpu`: as fast_log_likelihoods() of engine/likelihood.hpp takes it.
[[nodiscard]] Posteriors posteriors_on(const Classifier& classifier, const SequenceSet& set,
                                       int threads, CudaEngine* gpu);

}  // namespace hqmm::detail
