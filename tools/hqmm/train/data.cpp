#include "train/data.hpp"

#include <memory>
#include <utility>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::cli {

SessionData read_train_data(const TrainJob& job) {
  ReadOptions read = job.data.resolve();
  auto train = std::make_shared<const SequenceSet>(read_sequences(job.train_path, read));
  std::shared_ptr<const SequenceSet> validation;
  if (!job.validation_path.empty()) {
    read.alphabet = train->alphabet();
    validation = std::make_shared<const SequenceSet>(read_sequences(job.validation_path, read));
  }
  SessionData out =
      session_data(std::move(train), validation, job.validation_share, job.options.seed);
  out.train_file = job.train_path;
  out.validation_file = validation ? job.validation_path : job.train_path;
  return out;
}

}  // namespace hqmm::cli
