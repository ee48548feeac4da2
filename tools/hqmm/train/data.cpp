#include "train/data.hpp"

#include <string>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/trainer.hpp"

namespace hqmm::cli {
namespace {

/// Found out before the training and not after it: there must be something to learn from, and
/// something to select the best epoch by.
void require_known_symbols(const SequenceSet& set, const std::string& path, std::size_t burn_in,
                           const char* what) {
  bool any_known = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t t = 0; t < set[i].size(); ++t) {
      if (set[i][t] == kMissing) continue;
      if (t >= burn_in) return;
      any_known = true;
    }
  }
  if (!any_known) {
    throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}}, "every symbol of the {} is missing",
               what);
  }
  throw fail(ErrorCode::kBadData, {path, {}, {}, {}, {}},
             "no symbol of the {} is left behind its burn-in of {} (the longest sequence has {}): "
             "use a smaller --validation-burn-in",
             what, burn_in, set.longest());
}

}  // namespace

TrainData read_train_data(const TrainJob& job) {
  TrainData data;
  const ReadOptions read = job.data.resolve();
  SequenceSet whole = read_sequences(job.train_path, read);
  if (job.validation_path.empty()) {
    ValidationSplit split = split_validation(whole, job.validation_share, job.options.seed);
    data = {std::move(split.train), std::move(split.validation), std::move(split.how)};
  } else {
    ReadOptions same = read;
    same.alphabet = whole.alphabet();
    data.validation = read_sequences(job.validation_path, same);
    data.train = std::move(whole);
  }
  return data;
}

void require_usable_data(const TrainJob& job, const TrainData& data) {
  const DataPlan plan = plan_data(data.train, data.validation, job.options);
  const bool split = job.validation_path.empty();
  require_known_symbols(data.train, job.train_path, 0, "training data");
  require_known_symbols(data.validation, split ? job.train_path : job.validation_path,
                        plan.validation_burn_in,
                        split ? "share held out for validation" : "validation data");
}

}  // namespace hqmm::cli
