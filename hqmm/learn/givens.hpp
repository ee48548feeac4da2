// Givens search (Srinivasan et al. 2018): two rows of Γ at a time are turned into each other by
//
//   [ e^{iφ/2}e^{iψ}cosθ    e^{iφ/2}e^{iδ}sinθ ]
//   [ −e^{iφ/2}e^{−iδ}sinθ  e^{iφ/2}e^{−iψ}cosθ ]
//
// with the four angles found by a bounded local search on a small batch, and kept only when that
// batch's likelihood improves. No gradient; Γ stays feasible because the turn is unitary. An epoch
// is one batch.
//
// Options and defaults:
//
//   givens_pairs        6   row pairs tried per batch
//   givens_evaluations  60  of the likelihood, per row pair
//   batch_size          1   chunks in a batch
//   epochs              15  batches
#pragma once

#include <vector>

#include "hqmm/data/chunks.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm::detail {

class GivensSearch : public Learner {
 public:
  /// Keeps a reference to the chunks.
  GivensSearch(Hqmm start, const Chunks& chunks, std::size_t burn_in, const TrainOptions& options,
               std::size_t restart);

  EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) override;
  void set_threads(int threads) override { options_.threads = threads; }
  [[nodiscard]] AnyModel candidate() const override { return model_; }
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

 private:
  [[nodiscard]] double batch_log_likelihood(const Hqmm& model,
                                            const std::vector<std::size_t>& batch) const;

  Hqmm model_;
  const Chunks& chunks_;
  std::size_t burn_in_;
  TrainOptions options_;
  std::size_t restart_;
};

}  // namespace hqmm::detail
