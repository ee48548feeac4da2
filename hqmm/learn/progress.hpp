// What training reports as it runs, and what it needs to resume after an interruption.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

/// Called now and then; true ends the work in an orderly way.
using StopRequest = std::function<bool()>;

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
  /// During the epoch; none for epoch 0. For weighted sequences, descent and Givens search add
  /// likelihoods up without the weights.
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

struct RestartSummary {
  std::size_t restart = 0;
  TrainStatus status = TrainStatus::kMaxEpochs;
  std::size_t epochs_run = 0;
  std::size_t best_epoch = 0;
  double best_validation = 0.0;  // log-likelihood, raw for the literal retraction
  std::string message;           // why it diverged
};

/// Everything a learner needs to resume as if never interrupted, as flat arrays: shapes follow from
/// the options. Random choices are functions of (seed, restart, epoch) and need no state.
using LearnerState = std::map<std::string, std::vector<Complex>>;

/// An unfinished restart, after a whole epoch.
struct RestartState {
  RestartSummary summary;      // its status is not set yet
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

/// The state of a run that resumes from a checkpoint.
struct Resumption {
  std::size_t epoch = 0;  // whole epochs of every unfinished restart
  double seconds = 0.0;   // that the run has taken before
  Figures best;           // of the best model so far
};

[[nodiscard]] std::string_view name_of(TrainStatus status);
/// Throws kBadData: statuses are read from files.
template <>
[[nodiscard]] TrainStatus parse(std::string_view name);

}  // namespace hqmm
