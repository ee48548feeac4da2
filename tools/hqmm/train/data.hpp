// The data of a training, read from the files that a job names.
#pragma once

#include "hqmm/run/session.hpp"
#include "support/internals.hpp"
#include "train/options.hpp"

namespace hqmm::cli {

/// Without a validation file a share of the training data is held out. For a resumed run the
/// data must be the same as when it began: throws kBadData.
[[nodiscard]] SessionData read_train_data(const TrainJob& job);

}  // namespace hqmm::cli
