// JointDescent: descent on the product of all Stiefel manifolds, those of every Kraus set of every
// class, along mini-batches whose positions are dropped at random.
//
// A dropped position is a missing symbol, so the objective of a step is exact for what is left of
// the sequences: all classes see the same of each. Only the discriminative objective, which
// overfits without it, drops any.
#pragma once

#include <memory>
#include <vector>

#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/joint_objective.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

/// Sequences with their classes as numbers, and what the classes count.
struct JointData {
  const SequenceSet& sequences;
  std::vector<std::uint32_t> labels;
  std::vector<double> priors;
  std::vector<double> weights;  // of the classes, in the objective
};

/// Step sizes of an epoch: of Γ or V, and of C.
struct JointSteps {
  double size = 0.0;
  double of_emission = 0.0;
};

class JointDescent {
 public:
  /// Keeps a reference to the data. `member` chooses the random order and what is dropped.
  JointDescent(std::vector<Hqmm> start, const JointData& data, const ClassifierOptions& options,
               std::size_t member, CudaEngine* gpu = nullptr);

  /// One pass over the data in batches; `epoch` is its number. Returns the mean objective per
  /// sequence during the pass. Throws kDiverged, and kInterrupted when stopped.
  double run_epoch(std::size_t epoch, const JointSteps& steps, JointObjective::Kind kind,
                   const StopRequest& stop);

  /// The models as they are, not smoothed.
  [[nodiscard]] const std::vector<Hqmm>& models() const noexcept { return models_; }

 private:
  /// Copies of some sequences with positions dropped.
  [[nodiscard]] SequenceSet draw_batch(std::span<const std::uint32_t> chosen, std::size_t epoch,
                                       double dropout) const;
  double step(std::span<const std::uint32_t> chosen, std::size_t epoch, const JointSteps& steps,
              JointObjective::Kind kind);

  std::vector<Hqmm> models_;
  const JointData& data_;
  std::size_t batch_size_;
  double dropout_;
  std::uint64_t seed_;
  std::size_t member_;
  int threads_;
  JointObjective objective_;
  std::vector<std::unique_ptr<UpdateRule>> rules_;  // one per class
};

}  // namespace hqmm::detail
