// The training loop: epochs of any learner, validated one by one, the best model kept.
//
// Restarts run side by side on the threads, an epoch of each at a time. With halving, the better
// half of them goes on after a share of the epochs, again and again until one is left: of R
// restarts ⌈log₂ R⌉ times, at equal distances.
//
// Same data, options and seed give the same model at any thread count, and a run that goes on from
// a checkpoint ends with the same bytes as one that was never interrupted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm {

/// Log-likelihood and description accuracy of some data; also raw ones for infeasible models.
struct Figures {
  std::uint64_t symbols = 0;
  double log_likelihood = 0.0;
  std::optional<double> da;
  std::optional<double> raw_log_likelihood;
  std::optional<double> raw_da;
};

struct EpochRecord {
  std::size_t restart = 0;  // 0-based
  std::size_t epoch = 0;    // 1-based; 0 is the model training started from
  double step_size = 0.0;
  /// As the epoch went by; none for epoch 0. Of weighted sequences descent and Givens search add
  /// likelihoods up as they are.
  std::optional<Figures> train;
  Figures validation;  // of the candidate at the epoch's end
  double feasibility_residual = 0.0;
  double gradient_nuclear_norm = 0.0;
  std::uint64_t halved_steps = 0;
  double seconds = 0.0;  // since the run began, across interruptions
  bool best = false;     // better than everything before, of all restarts
};

enum class TrainStatus {
  kConverged,
  kMaxEpochs,
  kDiverged,
  kTimeLimit,
  kInterrupted,
  kDropped,  // others were better when restarts were halved
};
[[nodiscard]] std::string_view name_of(TrainStatus status);
/// Throws kBadData for anything but those names.
[[nodiscard]] TrainStatus parse_status(std::string_view text);

struct RestartSummary {
  std::size_t restart = 0;
  TrainStatus status = TrainStatus::kMaxEpochs;
  std::size_t epochs_run = 0;
  std::size_t best_epoch = 0;
  double best_validation = 0.0;  // log-likelihood, raw for the literal retraction
  std::string message;           // why it diverged
};

/// A restart under way, after a whole epoch.
struct RestartState {
  RestartSummary summary;      // its status means nothing yet
  std::size_t since_best = 0;  // epochs without a better one
  LearnerState learner;
};

/// All that is needed to resume after the last whole epoch of every restart. Restarts that are
/// neither live nor finished have not begun.
struct Checkpoint {
  std::vector<RestartState> live;
  std::vector<RestartSummary> finished;
  AnyModel best;
  std::size_t best_restart = 0;
  double seconds = 0.0;
};

/// How far a run has come that resumes from a checkpoint.
struct Resumption {
  std::size_t epoch = 0;  // whole epochs of every restart under way
  double seconds = 0.0;   // that the run has had before
  Figures best;           // of the best model so far
};

struct TrainHooks {
  std::function<void(const Resumption&)> on_resume;  // before the first epoch
  std::function<void(const EpochRecord&)> on_epoch;
  std::function<void(const Checkpoint&)> on_checkpoint;
  StopRequest stop_requested;
  StepWatcher on_step;  // ns-ris only
};

struct TrainResult {
  AnyModel model;
  TrainStatus status = TrainStatus::kMaxEpochs;
  std::string message;
  std::size_t epochs_run = 0;  // of the best restart
  std::size_t best_epoch = 0;
  std::size_t best_restart = 0;
  std::vector<RestartSummary> restarts;
  double seconds = 0.0;
};

/// Throws kUsage or kBadData when the run cannot start; divergence is a status, not an error.
[[nodiscard]] TrainResult train(const PlannedData& data, const TrainOptions& options,
                                const TrainHooks& hooks = {},
                                const std::optional<AnyModel>& warm = {},
                                const Checkpoint* resume = nullptr);
/// The same with the plan that the options ask for.
[[nodiscard]] TrainResult train(const SequenceSet& train_set, const SequenceSet& validation_set,
                                const TrainOptions& options, const TrainHooks& hooks = {},
                                const std::optional<AnyModel>& warm = {},
                                const Checkpoint* resume = nullptr);

}  // namespace hqmm
