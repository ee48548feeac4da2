#include "hqmm/learn/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "hqmm/core/error.hpp"
#include "hqmm/data/chunks.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/baum_welch.hpp"
#include "hqmm/learn/descent.hpp"
#include "hqmm/learn/edge_baum_welch.hpp"
#include "hqmm/learn/givens.hpp"
#include "hqmm/learn/start.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm {
namespace {

Figures figures_of(const Score& score) {
  Figures out{score.symbols, score.log_likelihood, score.da_mean, {}, {}};
  if (score.raw) {
    out.raw_log_likelihood = score.raw->log_likelihood;
    out.raw_da = score.raw->da_mean;
  }
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
        chunks_(cut(data.train, {plan_.chunk_length, plan_.burn_in})) {}

  TrainResult run() {
    start_ = std::chrono::steady_clock::now();
    std::size_t first = 0;
    if (resume_ != nullptr) {
      state_ = *resume_;
      first = state_.restart;
      have_best_ = true;
    }
    TrainStatus status = TrainStatus::kMaxEpochs;
    for (std::size_t restart = first; restart < options_.restarts; ++restart) {
      status = run_restart(restart);
      if (status == TrainStatus::kInterrupted || status == TrainStatus::kTimeLimit) break;
    }
    return result(status);
  }

 private:
  [[nodiscard]] double seconds() const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    return (resume_ != nullptr ? resume_->seconds : 0.0) + gone.count();
  }
  [[nodiscard]] bool out_of_time() const {
    return options_.time_limit > 0.0 && seconds() >= options_.time_limit;
  }
  [[nodiscard]] bool stop_requested() const {
    return hooks_.stop_requested && hooks_.stop_requested();
  }

  [[nodiscard]] std::unique_ptr<Learner> make_learner(const AnyModel& start,
                                                      std::size_t restart) const {
    if (options_.learner == LearnerKind::kEm) {
      if (const auto* edge = std::get_if<EdgeHmm>(&start))
        return std::make_unique<EdgeBaumWelch>(*edge, train_, options_);
      return std::make_unique<BaumWelch>(std::get<Hmm>(start), train_, options_);
    }
    const auto& hqmm = std::get<Hqmm>(start);
    if (options_.learner == LearnerKind::kGivens) {
      return std::make_unique<GivensSearch>(hqmm, chunks_, plan_.burn_in, options_, restart);
    }
    auto rule =
        options_.learner == LearnerKind::kCosm ? make_cosm(options_) : make_ns_ris(options_);
    if (hooks_.on_step) rule->watch(hooks_.on_step);
    auto learner = std::make_unique<DescentLearner>(hqmm, chunks_, plan_.burn_in, options_, restart,
                                                    std::move(rule));
    require_engine(learner->current());
    return learner;
  }

  /// Found out before the first epoch, not in the middle of it.
  void require_engine(const Hqmm& model) const {
    if (options_.engine == EngineKind::kAuto) return;
    std::vector<SequenceView> all;
    for (std::size_t i = 0; i < chunks_.size(); ++i) all.push_back(chunks_[i].symbols);
    const bool stays_feasible = !literal() && is_feasible(model);
    static_cast<void>(choose(shape_of(model, all, stays_feasible), options_.engine));
  }

  TrainStatus run_restart(std::size_t restart) {
    const Alphabet& alphabet = train_.alphabet();
    const Start start = warm_ ? warm_start(*warm_, options_, alphabet, restart)
                              : Start{random_start(options_, alphabet, restart), {}};
    const std::unique_ptr<Learner> learner = make_learner(start.model, restart);
    const bool resuming = resume_ != nullptr && restart == resume_->restart;
    if (resuming) {
      learner->load(state_.learner);
    } else {
      state_.restart = restart;
      state_.epochs_done = 0;
      state_.since_best = 0;
      state_.restart_over = false;
      state_.current = {};
      state_.current.restart = restart;
      state_.current.best_validation = -std::numeric_limits<double>::infinity();
      if (start.keep) consider(*start.keep, record_of(0, {}));
      consider(learner->candidate(), record_of(0, {}));
    }
    TrainStatus status = TrainStatus::kMaxEpochs;
    try {
      status = run_epochs(*learner);
    } catch (const DivergedError& error) {
      status = TrainStatus::kDiverged;
      state_.current.message =
          fmt::format("the loss is not finite at sequence {}, symbol {} (epoch {})",
                      error.place().sequence, error.place().position, state_.epochs_done + 1);
    }
    state_.current.status = status;
    state_.current.epochs_run = state_.epochs_done;
    if (status != TrainStatus::kInterrupted) state_.finished.push_back(state_.current);
    return status;
  }

  TrainStatus run_epochs(Learner& learner) {
    const StopRequest stop = [this] { return stop_requested() || out_of_time(); };
    if (state_.restart_over) return TrainStatus::kConverged;
    while (state_.epochs_done < options_.epochs) {
      EpochOutcome outcome = learner.run_epoch(state_.epochs_done, stop);
      if (outcome.stopped)
        return stop_requested() ? TrainStatus::kInterrupted : TrainStatus::kTimeLimit;
      ++state_.epochs_done;
      state_.current.epochs_run = state_.epochs_done;
      const bool better = consider(learner.candidate(), record_of(state_.epochs_done, outcome));
      state_.since_best = better ? 0 : state_.since_best + 1;
      const bool patience_over = options_.patience > 0 && state_.since_best >= options_.patience;
      state_.restart_over = outcome.converged || patience_over;
      if (hooks_.on_checkpoint) {
        state_.learner = learner.save();
        state_.seconds = seconds();
        hooks_.on_checkpoint(state_);
      }
      if (state_.restart_over) return TrainStatus::kConverged;
    }
    return TrainStatus::kMaxEpochs;
  }

  [[nodiscard]] EpochRecord record_of(std::size_t epoch, const EpochOutcome& outcome) const {
    EpochRecord record;
    record.restart = state_.restart;
    record.epoch = epoch;
    if (epoch == 0) return record;
    const bool descends =
        options_.learner == LearnerKind::kNsRis || options_.learner == LearnerKind::kCosm;
    record.step_size = descends ? step_size_at(options_, epoch - 1) : 0.0;
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

  /// Validates a candidate, keeps it when it is the best yet, and tells the observer. True when it
  /// is the best of its restart.
  bool consider(const AnyModel& candidate, EpochRecord record) {
    const Score found =
        score(candidate, validation_, plan_.validation_burn_in, options_.threads, Detail::kSums);
    record.validation = figures_of(found);
    record.feasibility_residual = found.feasibility_residual;
    record.seconds = seconds();
    // The paper selects by the un-normalised likelihood; its algorithm is run to the letter.
    const double worth =
        literal() ? record.validation.raw_log_likelihood.value_or(record.validation.log_likelihood)
                  : record.validation.log_likelihood;
    const bool better_here = worth > state_.current.best_validation;
    if (better_here) {
      state_.current.best_validation = worth;
      state_.current.best_epoch = record.epoch;
    }
    double best_before = -std::numeric_limits<double>::infinity();
    for (const RestartSummary& earlier : state_.finished)
      best_before = std::max(best_before, earlier.best_validation);
    record.best = !have_best_ || (better_here && worth > best_before);
    if (record.best) {
      state_.best = candidate;
      state_.best_restart = state_.restart;
      have_best_ = true;
    }
    if (hooks_.on_epoch) hooks_.on_epoch(record);
    return better_here;
  }

  [[nodiscard]] TrainResult result(TrainStatus status) const {
    TrainResult out;
    out.model = state_.best;
    out.best_restart = state_.best_restart;
    out.restarts = state_.finished;
    if (status == TrainStatus::kInterrupted) out.restarts.push_back(state_.current);
    for (const RestartSummary& one : out.restarts) {
      if (one.restart != out.best_restart) continue;
      out.epochs_run = one.epochs_run;
      out.best_epoch = one.best_epoch;
      out.status = one.status;
      out.message = one.message;
    }
    if (status == TrainStatus::kInterrupted || status == TrainStatus::kTimeLimit)
      out.status = status;
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
  Chunks chunks_;
  std::chrono::steady_clock::time_point start_;
  Checkpoint state_;
  bool have_best_ = false;
};

void require_learnable_state(const TrainOptions& options, const DataPlan& plan) {
  const bool learns_state = options.initial_state == InitialStateKind::kLearned ||
                            options.initial_state == InitialStateKind::kPure;
  const bool descends =
      options.learner == LearnerKind::kNsRis || options.learner == LearnerKind::kCosm;
  if (descends && learns_state && plan.burn_in > 0 && !options.gradient_through_burn_in) {
    throw fail(ErrorCode::kUsage,
               "an initial state cannot be learned after a burn-in of {} that the gradient does "
               "not pass: let it through, or use {}",
               plan.burn_in, option("burn_in", 0));
  }
}

}  // namespace

TrainResult train(const PlannedData& data, const TrainOptions& options, const TrainHooks& hooks,
                  const std::optional<AnyModel>& warm, const Checkpoint* resume) {
  require_usable(options);
  require_trainable(data.train);
  require_something_to_score(data);
  require_something_to_learn(data, options.learner);
  require_learnable_state(options, data.plan);
  return Trainer(data, options, hooks, warm, resume).run();
}

TrainResult train(const SequenceSet& train_set, const SequenceSet& validation_set,
                  const TrainOptions& options, const TrainHooks& hooks,
                  const std::optional<AnyModel>& warm, const Checkpoint* resume) {
  require_usable(options);
  require_trainable(train_set);
  const DataPlan plan = plan_data(train_set, validation_set, options);
  return train({train_set, validation_set, plan}, options, hooks, warm, resume);
}

}  // namespace hqmm
