// EM for hidden Markov models (Baum–Welch); an epoch is one iteration.
//
//   E step   expected transitions j → i and emissions (i, y) given the data (forward_backward.hpp)
//   M step   A, C and the initial distribution are those counts, normalised by column
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

class BaumWelch : public Learner {
 public:
  /// Keeps a reference to the sequences. Burn-in symbols count like any other: EM has no use for
  /// one.
  BaumWelch(Hmm start, const SequenceSet& sequences, const TrainOptions& options);

  EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) override;
  void set_threads(int threads) override { options_.threads = threads; }
  void set_ranks(Ranks* ranks) override { ranks_ = ranks; }
  [[nodiscard]] AnyModel candidate() const override { return model_; }
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

 private:
  Hmm model_;
  const SequenceSet& sequences_;
  TrainOptions options_;
  Ranks* ranks_ = nullptr;
  double last_log_likelihood_;  // of the model before the last iteration; NaN at first
};

}  // namespace hqmm::detail
