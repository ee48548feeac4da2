#include "hqmm/run/session.hpp"
#include "hqmm/engine/device.hpp"

#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/start.hpp"
#include "hqmm/learn/train_planned.hpp"
#include "hqmm/learn/training_ranks.hpp"
#include "hqmm/score/score_on.hpp"

namespace hqmm::detail {
namespace {

constexpr const char* kWarmStartFile = "warm_start.h5";
constexpr const char* kBoundFile = "stationarity.json";

/// What the check throws, with the file that the data came from.
template <typename Check>
void check_in(const std::string& file, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw error.at(Where{.file = file});
  }
}

/// As provenance has it.
const char* text_of(WarmStart::Kind kind) {
  switch (kind) {
    case WarmStart::Kind::kEm:
      return "em";
    case WarmStart::Kind::kModel:
      return "model";
    case WarmStart::Kind::kNone:
      break;
  }
  return "";
}

/// Long validation sequences may have a burn-in that the training ones are too short for.
std::size_t train_burn_in(const PlannedData& data) {
  const DataPlan& plan = data.plan;
  return data.train.longest() > plan.validation_burn_in ? plan.validation_burn_in : plan.burn_in;
}

/// One run of a session, stage by stage.
class SessionRun {
 public:
  SessionRun(const Session& session, const SessionRequest& request)
      : data_(session.planned()),
        options_(session.options()),
        request_(request),
        run_(request.run) {}

  SessionResult run() {
    const std::optional<Checkpoint> checkpoint = find_checkpoint();
    const std::optional<AnyModel> warm = find_warm_start();
    if (out_.ended_in == Stage::kWarmStart) return std::move(out_);
    const std::unique_ptr<StationarityProbe> probe = find_probe(warm);
    if (request_.hooks.on_stage) request_.hooks.on_stage(Stage::kTraining, options_);
    TrainHooks hooks = hooks_of(Stage::kTraining);
    if (probe) hooks.on_step = probe->watcher();
    hooks.on_resume = request_.hooks.on_resume;
    if (run_ != nullptr) hooks.on_checkpoint = [this](const Checkpoint& at) { (*run_)->save(at); };
    out_.trained =
        train_planned(data_, options_, hooks, {warm, checkpoint ? &*checkpoint : nullptr});
    if (probe) out_.bound = probe->report();
    report();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool run_has(const char* name) const { return run_ != nullptr && run_->has(name); }

  [[nodiscard]] TrainHooks hooks_of(Stage stage) const {
    TrainHooks hooks;
    hooks.stop_requested = request_.hooks.stop_requested;
    hooks.ranks = request_.ranks;
    hooks.on_epoch = [this, stage](const EpochRecord& record) {
      if (run_ != nullptr && stage == Stage::kTraining) {
        (*run_)->append(record);
        run_->mark_begun();
      }
      if (request_.hooks.on_epoch) request_.hooks.on_epoch(stage, record);
    };
    return hooks;
  }

  /// Where to go on, if anywhere.
  [[nodiscard]] std::optional<Checkpoint> find_checkpoint() const {
    if (run_ == nullptr || !request_.resume) return {};
    std::optional<Checkpoint> found = (*run_)->checkpoint(request_.hooks.on_note);
    if (!request_.stationarity) return found;
    const bool at_end = found && found->live.empty();
    if (at_end && run_->has(kBoundFile)) return found;
    if (found && request_.hooks.on_note)
      request_.hooks.on_note("the bound is measured on a whole run: starting from the beginning");
    (*run_)->remove_checkpoints();
    run_->remove(kBoundFile);
    return (*run_)->checkpoint();  // none any more; clears the history
  }

  /// The model that training begins with. A run keeps it.
  [[nodiscard]] std::optional<AnyModel> find_warm_start() {
    const WarmStart& asked = request_.warm_start;
    if (asked.kind == WarmStart::Kind::kNone) return {};
    if (run_has(kWarmStartFile)) return read_model((*run_)->file(kWarmStartFile)).model;
    if (asked.kind == WarmStart::Kind::kModel && !asked.model)
      throw fail(ErrorCode::kUsage, "the warm start has no model, and the run keeps none");
    std::optional<AnyModel> model = asked.model;
    if (asked.kind == WarmStart::Kind::kEm) model = learn_warm_start();
    if (model && run_ != nullptr) {
      write_model((*run_)->file(kWarmStartFile),
                  {*model, R"({"command":"train","role":"warm start"})"});
    }
    return model;
  }

  /// Nothing when stopped.
  std::optional<AnyModel> learn_warm_start() {
    const TrainOptions em = em_start_options(options_);
    if (request_.hooks.on_stage) request_.hooks.on_stage(Stage::kWarmStart, em);
    // EM takes whole sequences; the validation burn-in, all that it needs of the plan, is the same.
    TrainResult found = train_planned(data_, em, hooks_of(Stage::kWarmStart));
    out_.warm_start_seconds = found.seconds;
    if (found.status != TrainStatus::kInterrupted) return std::move(found.model);
    if (run_ != nullptr) run_->mark_begun();
    out_.ended_in = Stage::kWarmStart;
    out_.trained = std::move(found);
    return {};
  }

  [[nodiscard]] std::unique_ptr<StationarityProbe> find_probe(
      const std::optional<AnyModel>& warm) const {
    if (!request_.stationarity || run_has(kBoundFile)) return {};
    const Alphabet& alphabet = data_.train.alphabet();
    const Start start = warm ? warm_start(*warm, options_, alphabet, 0)
                             : Start{random_start(options_, alphabet, 0), {}};
    return std::make_unique<StationarityProbe>(data_.train, data_.plan, options_,
                                               std::get<Hqmm>(start.model).initial_state);
  }

  void report() {
    const bool interrupted = out_.trained.status == TrainStatus::kInterrupted;
    if (request_.report == Report::kNothing) return;
    if (request_.report == Report::kSelect && interrupted) return;
    const AnyModel& model = out_.trained.model;
    const auto gpu = open_device(options_.device, options_.memory);
    out_.scores.validation = score_on(model, data_.validation,
                                      {.burn_in = data_.plan.validation_burn_in,
                                       .threads = options_.threads,
                                       .per_sequence = request_.report == Report::kSelect},
                                      gpu.get(), {request_.ranks, kValidationScoreTask});
    if (request_.report == Report::kSelect) {
      out_.provenance = select_provenance(options_, data_.train, data_.validation, out_.trained,
                                          out_.scores.validation.bits_per_symbol.value());
      return;
    }
    out_.scores.train = score_on(
        model, data_.train,
        {.burn_in = train_burn_in(data_), .threads = options_.threads, .per_sequence = false},
        gpu.get(), {request_.ranks, kTrainScoreTask});
    out_.provenance = train_provenance(options_, text_of(request_.warm_start.kind), data_.train,
                                       data_.validation, out_.trained, out_.scores);
  }

  PlannedData data_;
  const TrainOptions& options_;
  const SessionRequest& request_;
  ActiveRun* run_;
  SessionResult out_;
};

}  // namespace

SessionData session_data(std::shared_ptr<const SequenceSet> train,
                         std::shared_ptr<const SequenceSet> validation, double share,
                         std::uint64_t seed) {
  if (validation) return {std::move(train), std::move(validation), {}, {}, {}};
  ValidationSplit split = split_validation(*train, share, seed);
  return {std::make_shared<const SequenceSet>(std::move(split.train)),
          std::make_shared<const SequenceSet>(std::move(split.validation)),
          std::move(split.how),
          {},
          {}};
}

Session::Session(SessionData data, const TrainOptions& options)
    : data_(std::move(data)), options_(options) {
  require_usable(options_);
  check_in(data_.train_file, [&] {
    require_trainable(*data_.train);
    require_known_symbols(*data_.train, "training data");
  });
  plan_ = plan_data(*data_.train, *data_.validation, options_);
  check_in(data_.validation_file, [&] { require_something_to_score(planned()); });
  check_in(data_.train_file, [&] { require_something_to_learn(planned(), options_.learner); });
}

void Session::help(Ranks& ranks) const {
  const Chunks chunks = cut(*data_.train, {plan_.chunk_length, plan_.burn_in});
  const TrainOptions options[] = {options_, em_start_options(options_)};
  ranks.help(training_tasks(ranks, planned(), chunks, options, options_.threads));
}

SessionResult Session::run(const SessionRequest& request) const {
  return SessionRun(*this, request).run();
}

}  // namespace hqmm::detail
