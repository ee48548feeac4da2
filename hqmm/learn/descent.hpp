// DescentLearner: the epoch loop that NS-RIS and COSM share. Shuffled mini-batches of chunks, the
// mean gradient of each, one step of the update rule, a running mean of the parameters.
//
// The parameters are points of Stiefel manifolds: Γ of each Kraus set and, when the initial state
// is learned, the n·r × 1 vector of B in ρ₀ = BB†, a point of a sphere (r = n, or 1 for a pure
// state).
#pragma once

#include <memory>
#include <vector>

#include "hqmm/data/chunks.hpp"
#include "hqmm/engine/gradient.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm {

class DescentLearner : public Learner {
 public:
  /// Keeps a reference to the chunks. `restart` only chooses the random order.
  DescentLearner(Hqmm start, const std::vector<Chunk>& chunks, std::size_t burn_in,
                 const TrainOptions& options, std::size_t restart,
                 std::unique_ptr<UpdateRule> rule);

  EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) override;
  [[nodiscard]] AnyModel candidate() const override;
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

  /// The parameters as they are, without averaging.
  [[nodiscard]] const Hqmm& current() const noexcept { return model_; }

 private:
  [[nodiscard]] bool learns_state() const { return state_rank_ > 0; }
  void put_parameters(const std::vector<Stack>& parameters, Hqmm& model) const;
  BatchGradient batch_gradient(std::span<const std::uint32_t> order) const;
  /// Takes the parameters after update number `update` of the restart into the running means.
  void average_in(std::size_t update);

  Hqmm model_;
  const std::vector<Chunk>& chunks_;
  GradientOptions gradient_options_;
  TrainOptions options_;
  std::size_t restart_;
  std::unique_ptr<UpdateRule> rule_;
  Index state_rank_ = 0;           // columns of B; 0: the initial state is fixed
  std::vector<Stack> parameters_;  // Γ of each set, then B
  std::vector<Stack> averages_;    // their running means; empty without averaging
};

}  // namespace hqmm
