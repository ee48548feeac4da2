#include "train/data.hpp"

#include <memory>
#include <utility>

#include "hqmm/data/hash_text.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/data_files.hpp"
#include "support/memory.hpp"
#include "support/run_config.hpp"

namespace hqmm::cli {

SessionData read_train_data(const TrainJob& job) {
  ReadOptions read = job.data.resolve();
  read.memory = job.options.memory;
  auto train = std::make_shared<const SequenceSet>(read_sequences(job.train_paths, read));
  std::shared_ptr<const SequenceSet> validation;
  if (!job.validation_paths.empty()) {
    read.alphabet = train->alphabet();
    validation = std::make_shared<const SequenceSet>(read_sequences(job.validation_paths, read));
  }
  require_within(read.memory);
  SessionData out =
      session_data(std::move(train), validation, job.validation_share, job.options.seed);
  out.train_file = shown(job.train_paths);
  out.validation_file = validation ? shown(job.validation_paths) : out.train_file;
  if (!job.resuming) return out;
  require_unchanged(out.train_file, hash_text(*out.train), job.expected_train_hash);
  require_unchanged(out.validation_file, hash_text(*out.validation), job.expected_validation_hash);
  return out;
}

}  // namespace hqmm::cli
