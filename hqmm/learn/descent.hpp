// DescentLearner: the epoch loop that NS-RIS and COSM share. Shuffled mini-batches of chunks, the
// mean gradient of each, one step of the update rule, a running mean of the parameters.
//
// The parameters are points of Stiefel manifolds: Γ of each Kraus set, or V and the columns of C
// for emission on states; and, when the initial state is learned, the n·r × 1 vector of B in ρ₀ =
// BB†, a point of a sphere (r = n, or 1 for a pure state).
#pragma once

#include <memory>
#include <vector>

#include "hqmm/data/chunks.hpp"
#include "hqmm/data/fetched_sequences.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

class DescentLearner : public Learner {
 public:
  /// Keeps a reference to the chunks. `restart` only chooses the random order. `gpu`: what computes
  /// the gradients, if not the CPU.
  DescentLearner(Hqmm start, const Chunks& chunks, std::size_t burn_in, const TrainOptions& options,
                 std::size_t restart, std::unique_ptr<UpdateRule> rule, CudaEngine* gpu = nullptr);

  EpochOutcome run_epoch(std::size_t epoch, const StopRequest& stop) override;
  void set_threads(int threads) override { options_.threads = threads; }
  void set_ranks(Ranks* ranks) override { gradient_options_.ranks = ranks; }
  void rest() override { scratch_ = GradientScratch(); }
  [[nodiscard]] AnyModel candidate() const override;
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

  /// The parameters as they are, without averaging.
  [[nodiscard]] const Hqmm& current() const noexcept { return model_; }

 private:
  [[nodiscard]] bool learns_state() const { return state_rank_ > 0; }
  [[nodiscard]] std::size_t parameter_count() const {
    return model_.sets.size() + emissions_.size() + (learns_state() ? 1 : 0);
  }
  /// Γ or V of each set, then C of each set, then B.
  template <typename Self>
  [[nodiscard]] static auto& parameter_of(Self& self, std::size_t i) {
    const std::size_t sets = self.model_.sets.size();
    if (i < sets) return self.model_.sets[i].stack();
    return i < sets + self.emissions_.size() ? self.emissions_[i - sets] : self.factor_;
  }
  [[nodiscard]] Stack& parameter(std::size_t i) { return parameter_of(*this, i); }
  [[nodiscard]] const Stack& parameter(std::size_t i) const { return parameter_of(*this, i); }
  [[nodiscard]] bool is_emission(std::size_t i) const {
    return i >= model_.sets.size() && i < model_.sets.size() + emissions_.size();
  }
  /// Puts parameter i, which is neither Γ nor V, into a model.
  void put(std::size_t i, const Stack& value, Hqmm& model) const;
  /// ρ₀ = BB†
  void put_state(const Stack& b, Hqmm& model) const;
  BatchGradient batch_gradient(std::span<const std::uint32_t> order);
  struct Steps {
    double size, of_emission;
  };
  /// One step of the rule for every parameter, along the mean gradient of a batch of `size`.
  void descend(BatchGradient& batch, std::size_t size, const Steps& steps, EpochOutcome& outcome);
  [[nodiscard]] double tangent_norm(std::size_t i, double batches) const;
  /// Takes the parameters after update number `update` of the restart into the running means.
  void average_in(std::size_t update);

  Hqmm model_;  // its Γ are parameters; ρ₀ follows B
  const Chunks& chunks_;
  GradientOptions gradient_options_;
  GradientScratch scratch_;
  std::vector<SequenceView> batch_;
  FetchedSequences fetched_;
  std::vector<double> weights_;  // of the batch, in units of mean_weight_; none without weights
  double mean_weight_ = 1.0;     // of all chunks: weights change what counts, not how far steps go
  TrainOptions options_;
  std::size_t restart_;
  std::unique_ptr<UpdateRule> rule_;
  Index state_rank_ = 0;          // columns of B; 0: the initial state is fixed
  std::vector<Stack> emissions_;  // C of each set, for emission on states
  Stack factor_;                  // B as one column
  Stack factor_gradient_;         // memory for ∂L/∂B
  std::vector<Stack> averages_;   // running means of the parameters; empty without averaging
  std::vector<Stack> sums_;       // of the mean gradients of an epoch's batches
};

}  // namespace hqmm::detail
