// The data of a training: read, or a share of it held out for validation.
#pragma once

#include <string>

#include "hqmm/data/sequence_set.hpp"
#include "train/options.hpp"

namespace hqmm::cli {

struct TrainData {
  SequenceSet train;
  SequenceSet validation;
  std::string how;  // where the validation set came from, when it was split off
};

[[nodiscard]] TrainData read_train_data(const TrainJob& job);
/// Throws kBadData unless there is a symbol to learn from, and one to select the best epoch by.
void require_usable_data(const TrainJob& job, const TrainData& data);

}  // namespace hqmm::cli
