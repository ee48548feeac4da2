// A training session: one training from data to the text that a model file keeps of its making.
// Every face of the library trains through here, so that the same data, options and seed give the
// same bytes from any of them.
//
//   session_data(…)         the sets, with a share held out where no validation set is given
//   Session(data, options)  plans the data, once; throws before anything is written
//   run(request)            warm start, training, scores, provenance
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/stationarity.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/run/active_run.hpp"
#include "hqmm/run/provenance.hpp"

namespace hqmm::detail {

struct SessionData {
  std::shared_ptr<const SequenceSet> train;
  std::shared_ptr<const SequenceSet> validation;
  std::string how;  // where the validation set came from, when it was split off
  // Files as the user named them, for error messages; may be empty.
  std::string train_file;
  std::string validation_file;
};

/// Without a validation set `share` of the training set is held out.
[[nodiscard]] SessionData session_data(std::shared_ptr<const SequenceSet> train,
                                       std::shared_ptr<const SequenceSet> validation, double share,
                                       std::uint64_t seed);

/// A set that outlives the session, without a copy.
[[nodiscard]] inline std::shared_ptr<const SequenceSet> borrowed(const SequenceSet& set) {
  return {std::shared_ptr<const SequenceSet>(), &set};
}

struct WarmStart {
  enum class Kind { kNone, kModel, kEm };  // kEm: an HMM that EM learns first
  Kind kind = Kind::kNone;
  std::optional<AnyModel> model;  // for kModel, unless the run keeps it already
};

/// A session trains once or twice.
enum class Stage { kWarmStart, kTraining };

struct SessionHooks {
  std::function<void(Stage, const TrainOptions&)> on_stage;  // before its first epoch
  std::function<void(const Resumption&)> on_resume;  // of the training, before its first epoch
  std::function<void(Stage, const EpochRecord&)> on_epoch;
  std::function<void(const std::string&)> on_note;  // for people
  StopRequest stop_requested;
};

/// What is found out about the trained model.
enum class Report {
  kNothing,
  kSelect,  // the validation score; nothing of an interrupted run
  kTrain,   // the scores of both sets
};

struct SessionRequest {
  WarmStart warm_start;
  SessionHooks hooks;
  ActiveRun* run = nullptr;   // gets history, checkpoints and the warm start
  bool resume = false;        // from the run's last checkpoint
  Ranks* ranks = nullptr;     // other processes, which help()
  bool stationarity = false;  // measure the paper's bound, unless the run has it
  Report report = Report::kTrain;
};

struct SessionResult {
  Stage ended_in = Stage::kTraining;  // kWarmStart: stopped there; `trained` is EM's
  TrainResult trained;
  double warm_start_seconds = 0.0;
  TrainScores scores;
  std::string provenance;  // JSON, as ModelFile holds it
  std::optional<StationarityReport> bound;
};

class Session {
 public:
  /// Throws kUsage or kBadData (naming the file) when a run could not start.
  Session(SessionData data, const TrainOptions& options);

  [[nodiscard]] const SessionData& data() const noexcept { return data_; }
  [[nodiscard]] const TrainOptions& options() const noexcept { return options_; }
  [[nodiscard]] const DataPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] PlannedData planned() const { return {*data_.train, *data_.validation, plan_}; }

  /// Throws like train(). To be stopped or to diverge is a status, not an error.
  [[nodiscard]] SessionResult run(const SessionRequest& request) const;
  /// Another rank's part of that: helps rank 0 until it is dismissed.
  void help(Ranks& ranks) const;

 private:
  SessionData data_;
  TrainOptions options_;
  DataPlan plan_;
};

}  // namespace hqmm::detail
