// EM for hidden Markov models that emit on their edges; an epoch is one iteration.
//
//   E step   expected moves j → i under each symbol (edge_counts.hpp)
//   M step   the columns of those counts, all symbols together, normalised
//
// The log-likelihood never falls from one iteration to the next. A symbol that the training data
// never show gets half a count, so that other data with it are not impossible.
//
// Options and defaults:
//
//   tolerance  7e-6  relative change of the log-likelihood that ends it
//   epochs     600   iterations at most
//   restarts   16    random starts; the best on the validation set is kept
#pragma once

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm::detail {

class EdgeBaumWelch : public Learner {
 public:
  /// Keeps a reference to the sequences.
  EdgeBaumWelch(EdgeHmm start, const SequenceSet& sequences, const TrainOptions& options);

  EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) override;
  void set_threads(int threads) override { options_.threads = threads; }
  void set_ranks(Ranks* ranks) override { ranks_ = ranks; }
  [[nodiscard]] AnyModel candidate() const override { return model_; }
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

 private:
  EdgeHmm model_;
  const SequenceSet& sequences_;
  TrainOptions options_;
  Ranks* ranks_ = nullptr;
  double last_log_likelihood_;  // of the model before the last iteration; NaN at first
};

}  // namespace hqmm::detail
