// The training loop: epochs of any learner, validated one by one, the best model kept.
//
// Restarts run in parallel on the threads, an epoch of each at a time. With halving, only the
// better half of them continues after each share of the epochs, until one is left: R restarts are
// halved ⌈log₂ R⌉ times, at equal distances.
//
// Same data, options and seed give the same model at any thread count, and a run that resumes from
// a checkpoint ends with the same bytes as one that was never interrupted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/progress.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {
class Ranks;
}  // namespace hqmm::detail

namespace HQMM_API hqmm {

struct TrainHooks {
  std::function<void(const Resumption&)> on_resume;  // before the first epoch
  std::function<void(const EpochRecord&)> on_epoch;
  std::function<void(const Checkpoint&)> on_checkpoint;
  StopRequest stop_requested;
  detail::StepWatcher on_step;  // ns-ris only
  /// Makes your own rule in place of that of ns-ris or cosm: called for each restart, possibly from
  /// several threads at once, with the options of the run.
  std::function<std::unique_ptr<UpdateRule>(const TrainOptions&)> make_rule;
  detail::Ranks* ranks = nullptr;  // other processes that help: training_ranks.hpp
};

/// Where training begins, if not at random.
struct TrainStart {
  std::optional<AnyModel> model;           // a warm start
  const Checkpoint* checkpoint = nullptr;  // to resume from, with the same data, options and start
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

/// Throws kUsage or kBadData if the run cannot start; divergence is a status, not an error.
[[nodiscard]] TrainResult train(const SequenceSet& train_set, const SequenceSet& validation_set,
                                const TrainOptions& options, const TrainHooks& hooks = {},
                                const TrainStart& start = {});

}  // namespace hqmm
