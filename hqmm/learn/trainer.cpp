#include "hqmm/engine/device.hpp"
#include "hqmm/learn/recipes.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/train_planned.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/data/chunks.hpp"
#include "hqmm/learn/make_learner.hpp"
#include "hqmm/learn/start.hpp"
#include "hqmm/learn/training_ranks.hpp"
#include "hqmm/score/score_on.hpp"

namespace hqmm::detail {
namespace {

Figures figures_of(const Score& score) {
  Figures out{score.symbols, score.log_likelihood, score.da_mean, {}, {}};
  if (score.raw) {
    out.raw_log_likelihood = score.raw->log_likelihood;
    out.raw_da = score.raw->da_mean;
  }
  return out;
}

/// A model that a restart offers, and what validation says of it.
struct Offer {
  AnyModel model;
  Score score;
};

/// A restart under way, and the result of its epoch in the current round.
struct Restart {
  RestartState state;
  AnyModel start;
  std::unique_ptr<Learner> learner;
  std::vector<Offer> offers;
  EpochOutcome outcome;
  std::optional<Divergence> diverged;

  [[nodiscard]] std::size_t number() const { return state.summary.restart; }
  [[nodiscard]] std::size_t epochs_done() const { return state.summary.epochs_run; }
};

/// How often the restarts are halved after an epoch.
std::size_t halvings_after(std::size_t epoch, const TrainOptions& options) {
  if (!options.halving) return 0;
  std::size_t rungs = 0;
  while ((std::size_t{1} << rungs) < options.restarts) ++rungs;
  std::size_t out = 0;
  for (std::size_t k = 1; k <= rungs; ++k)
    if (std::max<std::size_t>(1, options.epochs * k / (rungs + 1)) == epoch) ++out;
  return out;
}

class Trainer {
 public:
  Trainer(const PlannedData& data, const TrainOptions& options, const TrainHooks& hooks,
          const std::optional<AnyModel>& warm, const Checkpoint* resume)
      : train_(data.train),
        validation_(data.validation),
        options_(options),
        hooks_(hooks),
        warm_(warm),
        resume_(resume),
        plan_(data.plan),
        gpu_(open_device(options.device, options.memory)),
        chunks_(cut(data.train, {plan_.chunk_length, plan_.burn_in})) {
    if (gpu_ != nullptr && hooks.ranks != nullptr)
      throw fail(ErrorCode::kUsage, "{} is for one process: several share the work on their CPUs",
                 option("device", "cuda"));
  }

  TrainResult run() {
    start_ = std::chrono::steady_clock::now();
    go_on();
    begin();
    finish_ended(false);
    while (!live_.empty()) {
      if (run_round()) {
        settle_round();
        continue;
      }
      take_whole_epochs();
      return result(stop_requested() ? TrainStatus::kInterrupted : TrainStatus::kTimeLimit);
    }
    return result({});
  }

 private:
  [[nodiscard]] double seconds_here() const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    return gone.count();
  }
  [[nodiscard]] double seconds() const {
    return (resume_ != nullptr ? resume_->seconds : 0.0) + seconds_here();
  }
  /// The limit counts from here on: resuming a run grants it new time.
  [[nodiscard]] bool out_of_time() const {
    return options_.time_limit > 0.0 && seconds_here() >= options_.time_limit;
  }
  [[nodiscard]] bool stop_requested() const {
    return hooks_.stop_requested && hooks_.stop_requested();
  }

  [[nodiscard]] std::unique_ptr<Learner> learner_of(const AnyModel& start,
                                                    std::size_t restart) const {
    return make_learner(start, restart, {train_, validation_, plan_}, chunks_, options_, hooks_,
                        gpu_.get());
  }

  [[nodiscard]] Start start_of(std::size_t restart) const {
    const Alphabet& alphabet = train_.alphabet();
    if (warm_) return warm_start(*warm_, options_, alphabet, restart);
    return {random_start(options_, alphabet, restart), {}};
  }

  /// The restarts of the checkpoint.
  void go_on() {
    if (resume_ == nullptr) return;
    best_ = resume_->best;
    best_restart_ = resume_->best_restart;
    finished_ = resume_->finished;
    for (const RestartSummary& one : finished_)
      best_worth_ = std::max(best_worth_, one.best_validation);
    for (const RestartState& state : resume_->live) {
      const std::size_t number = state.summary.restart;
      Restart& restart = live_.emplace_back();
      restart.state = state;
      restart.start = start_of(number).model;
      restart.learner = learner_of(restart.start, number);
      restart.learner->load(state.learner);
      best_worth_ = std::max(best_worth_, state.summary.best_validation);
    }
    if (live_.empty() || !hooks_.on_resume) return;
    hooks_.on_resume({live_.front().epochs_done(), resume_->seconds, figures_of(validate(best_))});
  }

  /// The restarts that have not begun.
  void begin() {
    std::vector<bool> known(options_.restarts, false);
    const auto know = [&](std::size_t restart) {
      if (restart >= known.size()) throw misfit_checkpoint();
      known[restart] = true;
    };
    for (const Restart& restart : live_) know(restart.number());
    for (const RestartSummary& one : finished_) know(one.restart);
    const std::size_t old = live_.size();
    for (std::size_t number = 0; number < options_.restarts; ++number) {
      if (known[number]) continue;
      Restart& restart = live_.emplace_back();
      restart.state.summary.restart = number;
      restart.state.summary.best_validation = -std::numeric_limits<double>::infinity();
      const Start start = start_of(number);
      restart.start = start.model;
      restart.learner = learner_of(start.model, number);
      if (start.keep) restart.offers.push_back({*start.keep, {}});
      restart.offers.push_back({restart.learner->candidate(), {}});
    }
    parallel_for(live_.size() - old, threads_side_by_side(), [&](std::size_t i) {
      for (Offer& offer : live_[old + i].offers) offer.score = validate(offer.model);
    });
    for (std::size_t i = old; i < live_.size(); ++i) consider(live_[i]);
  }

  /// Restarts at a time, and the threads that each of them has for itself.
  [[nodiscard]] int threads_side_by_side() const {
    return std::min(jobs_on(options_.device, resolve_threads(options_.threads)),
                    static_cast<int>(std::max<std::size_t>(1, live_.size())));
  }
  [[nodiscard]] int threads_of_each() const {
    return std::max(1, resolve_threads(options_.threads) / threads_side_by_side());
  }

  /// Other ranks share the work of a single restart; of several each has its own.
  [[nodiscard]] Ranks* shared_ranks() const { return live_.size() == 1 ? hooks_.ranks : nullptr; }

  [[nodiscard]] Score validate(const AnyModel& model) const {
    return score_on(
        model, validation_,
        {.burn_in = plan_.validation_burn_in, .threads = threads_of_each(), .per_sequence = false},
        gpu_.get(), {shared_ranks(), kValidationScoreTask});
  }

  /// An epoch of every restart. False when one of them was stopped in the middle of it.
  bool run_round() {
    const StopRequest stop = [this] { return stop_requested() || out_of_time(); };
    std::atomic<bool> stopped = false;
    Cells cells;
    cells.count = live_.size();
    cells.threads = threads_side_by_side();
    cells.here = [&](std::size_t i) {
      if (!run_here(live_[i], stop)) stopped = true;
    };
    cells.take = [&](std::size_t i, std::string_view bytes) { take_back(live_[i], bytes); };
    // Whoever watches every step sees those that are made here.
    if (hooks_.ranks == nullptr || live_.size() == 1 || hooks_.on_step) {
      parallel_for(cells.count, cells.threads, cells.here);
    } else {
      hand_out(cells, hooks_.ranks, kEpochsTask, orders());
    }
    return !stopped;
  }

  /// False when stopped.
  bool run_here(Restart& restart, const StopRequest& stop) {
    restart.learner->set_threads(threads_of_each());
    restart.learner->set_ranks(shared_ranks());
    try {
      restart.outcome = restart.learner->run_epoch(restart.epochs_done(), stop);
    } catch (const DivergedError& error) {
      restart.diverged = error.place();
      return true;
    }
    if (restart.outcome.stopped) return false;
    if (live_.size() > 1) restart.learner->rest();
    AnyModel candidate = restart.learner->candidate();
    Score found = validate(candidate);
    restart.offers.push_back({std::move(candidate), std::move(found)});
    return true;
  }

  [[nodiscard]] std::string orders() const {
    std::vector<EpochOrder> out;
    for (const Restart& restart : live_) {
      const std::size_t done = restart.epochs_done();
      out.push_back({restart.number(), done, restart.start,
                     done > 0 ? restart.learner->save() : LearnerState()});
    }
    return pack_orders(options_.learner, out);
  }

  static void take_back(Restart& restart, std::string_view bytes) {
    EpochReturn found = unpack_return(bytes);
    restart.outcome = found.outcome;
    restart.diverged = found.diverged;
    if (found.diverged) return;
    restart.learner->load(found.state);
    restart.offers.push_back({std::move(found.candidate), std::move(found.score)});
  }

  /// What a round has brought, in the order of the restarts.
  void take_whole_epochs() {
    for (Restart& restart : live_) {
      if (restart.diverged || restart.outcome.stopped) continue;
      ++restart.state.summary.epochs_run;
      const bool better = consider(restart);
      restart.state.since_best = better ? 0 : restart.state.since_best + 1;
    }
  }

  void settle_round() {
    take_whole_epochs();
    finish_ended(true);
    drop_worse();
    if (!hooks_.on_checkpoint) return;
    Checkpoint checkpoint{{}, finished_, best_, best_restart_.value_or(0), seconds()};
    for (Restart& restart : live_) {
      restart.state.learner = restart.learner->save();
      checkpoint.live.push_back(restart.state);
    }
    hooks_.on_checkpoint(checkpoint);
  }

  /// How a restart has ended, if it has; `after_epoch`: its outcome is of this round.
  [[nodiscard]] std::optional<TrainStatus> end_of(const Restart& restart, bool after_epoch) const {
    if (restart.diverged) return TrainStatus::kDiverged;
    const bool patience_over =
        options_.patience > 0 && restart.state.since_best >= options_.patience;
    if (after_epoch && (restart.outcome.converged || patience_over)) return TrainStatus::kConverged;
    if (restart.epochs_done() >= options_.epochs) return TrainStatus::kMaxEpochs;
    return {};
  }

  void finish(const Restart& restart, TrainStatus status) {
    RestartSummary summary = restart.state.summary;
    summary.status = status;
    if (restart.diverged)
      summary.message = fmt::format("the loss is not finite at sequence {}, symbol {} (epoch {})",
                                    restart.diverged->sequence, restart.diverged->position,
                                    restart.epochs_done() + 1);
    finished_.push_back(std::move(summary));
  }

  void finish_ended(bool after_epoch) {
    std::erase_if(live_, [&](const Restart& restart) {
      const std::optional<TrainStatus> end = end_of(restart, after_epoch);
      if (end) finish(restart, *end);
      return end.has_value();
    });
  }

  /// Where restarts are halved: those of the better validation go on, the earlier of two equal
  /// ones.
  void drop_worse() {
    if (live_.empty()) return;
    std::size_t kept = live_.size();
    for (std::size_t k = halvings_after(live_.front().epochs_done(), options_); k > 0; --k)
      kept = (kept + 1) / 2;
    if (kept == live_.size()) return;
    std::vector<double> worths;
    for (const Restart& restart : live_) worths.push_back(restart.state.summary.best_validation);
    std::vector<double> sorted = worths;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const double least = sorted[kept - 1];
    std::size_t room =
        kept - static_cast<std::size_t>(std::count_if(worths.begin(), worths.end(),
                                                      [&](double worth) { return worth > least; }));
    std::erase_if(live_, [&](const Restart& restart) {
      const double worth = restart.state.summary.best_validation;
      if (worth > least || (worth == least && room > 0 && room-- > 0)) return false;
      finish(restart, TrainStatus::kDropped);
      return true;
    });
  }

  [[nodiscard]] EpochRecord record_of(const Restart& restart) const {
    EpochRecord record;
    record.restart = restart.number();
    record.epoch = restart.epochs_done();
    if (record.epoch == 0) return record;
    const EpochOutcome& outcome = restart.outcome;
    const bool descends =
        options_.learner == LearnerKind::kNsRis || options_.learner == LearnerKind::kCosm;
    record.step_size = descends ? step_size_at(options_, record.epoch - 1) : 0.0;
    Figures figures;
    figures.symbols = outcome.scored;
    figures.log_likelihood = outcome.log_likelihood;
    figures.da =
        description_accuracy(outcome.log_likelihood, outcome.scored, train_.alphabet().size());
    if (literal()) {
      figures.raw_log_likelihood = outcome.raw_log_likelihood;
      figures.raw_da = description_accuracy(outcome.raw_log_likelihood, outcome.scored,
                                            train_.alphabet().size());
    }
    record.train = figures;
    record.gradient_nuclear_norm = outcome.gradient_nuclear_norm;
    record.halved_steps = outcome.halved_steps;
    return record;
  }

  [[nodiscard]] bool literal() const {
    return options_.learner == LearnerKind::kNsRis &&
           options_.retraction == RetractionKind::kLiteral;
  }

  /// Takes in what a restart offers, keeps the best of all, and tells the observer. True when one
  /// is the best of its restart.
  bool consider(Restart& restart) {
    bool better = false;
    for (Offer& offer : restart.offers) better |= consider(restart, offer);
    restart.offers.clear();
    return better;
  }

  bool consider(Restart& restart, Offer& offer) {
    EpochRecord record = record_of(restart);
    record.validation = figures_of(offer.score);
    record.feasibility_residual = offer.score.feasibility_residual;
    record.seconds = seconds();
    // The paper selects by the un-normalised likelihood; its algorithm is run to the letter.
    const double worth =
        literal() ? record.validation.raw_log_likelihood.value_or(record.validation.log_likelihood)
                  : record.validation.log_likelihood;
    RestartSummary& summary = restart.state.summary;
    const bool better_here = worth > summary.best_validation;
    if (better_here) {
      summary.best_validation = worth;
      summary.best_epoch = record.epoch;
    }
    record.best = !best_restart_ || worth > best_worth_;
    if (record.best) {
      best_ = std::move(offer.model);
      best_worth_ = worth;
      best_restart_ = restart.number();
    }
    if (hooks_.on_epoch) hooks_.on_epoch(record);
    return better_here;
  }

  /// `stopped`: how the run was ended, if it was.
  [[nodiscard]] TrainResult result(std::optional<TrainStatus> stopped) {
    if (stopped) {
      for (const Restart& restart : live_) finish(restart, *stopped);
    }
    TrainResult out;
    out.model = best_;
    out.best_restart = best_restart_.value_or(0);
    out.restarts = finished_;
    std::sort(
        out.restarts.begin(), out.restarts.end(),
        [](const RestartSummary& a, const RestartSummary& b) { return a.restart < b.restart; });
    for (const RestartSummary& one : out.restarts) {
      if (one.restart != out.best_restart) continue;
      out.epochs_run = one.epochs_run;
      out.best_epoch = one.best_epoch;
      out.status = one.status;
      out.message = one.message;
    }
    if (stopped) out.status = *stopped;
    out.seconds = seconds();
    return out;
  }

  const SequenceSet& train_;
  const SequenceSet& validation_;
  const TrainOptions& options_;
  const TrainHooks& hooks_;
  const std::optional<AnyModel>& warm_;
  const Checkpoint* resume_;
  DataPlan plan_;
  std::unique_ptr<CudaEngine> gpu_;  // none on the CPU
  Chunks chunks_;
  std::chrono::steady_clock::time_point start_;
  std::vector<Restart> live_;  // by number
  std::vector<RestartSummary> finished_;
  AnyModel best_;
  std::optional<std::size_t> best_restart_;
  double best_worth_ = -std::numeric_limits<double>::infinity();
};

void require_learnable_state(const TrainOptions& options, const DataPlan& plan) {
  const bool learns_state = options.initial_state == InitialStateKind::kLearned ||
                            options.initial_state == InitialStateKind::kPure;
  const bool descends =
      options.learner == LearnerKind::kNsRis || options.learner == LearnerKind::kCosm;
  if (descends && learns_state && plan.burn_in > 0 && !options.gradient_through_burn_in) {
    throw fail(ErrorCode::kUsage,
               "an initial state cannot be learned if the gradient stops at a burn-in of {}: let "
               "it through, or use {}",
               plan.burn_in, option("burn_in", 0));
  }
}

}  // namespace

TrainResult train_planned(const PlannedData& data, const TrainOptions& options,
                          const TrainHooks& hooks, const TrainStart& start) {
  require_usable(options);
  require_trainable(data.train);
  require_something_to_score(data);
  require_something_to_learn(data, options.learner);
  require_learnable_state(options, data.plan);
  return Trainer(data, options, hooks, start.model, start.checkpoint).run();
}

}  // namespace hqmm::detail

namespace hqmm {
using namespace detail;

TrainResult train(const SequenceSet& train_set, const SequenceSet& validation_set,
                  const TrainOptions& options, const TrainHooks& hooks, const TrainStart& start) {
  require_usable(options);
  require_trainable(train_set);
  const DataPlan plan = plan_data(train_set, validation_set, options);
  return train_planned({train_set, validation_set, plan}, options, hooks, start);
}

}  // namespace hqmm
