// The training loop: small versions of the accuracy claims, selection, stopping, determinism.
#include "hqmm/learn/trainer.hpp"
#include "hqmm/learn/recipes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::draw;
using testing::expect_feasible;
using testing::kAllLearners;
using testing::mean_da;
using testing::quick;
using testing::SmallData;

/// The run with every record it wrote.
struct Watched {
  TrainResult result;
  std::vector<EpochRecord> records;
};

Watched watch(const SmallData& data, const TrainOptions& options,
              const std::optional<AnyModel>& warm = {}) {
  Watched out;
  TrainHooks hooks;
  hooks.on_epoch = [&](const EpochRecord& record) { out.records.push_back(record); };
  out.result = train(data.train, data.validation, options, hooks, {.model = warm});
  return out;
}

// Accuracy, small.

TEST(Trainer, AnHqmmFindsTheSternGerlachProcess) {
  const SmallData data = draw(synthetic_hqmm(), 40, 20, 200);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.kraus_rank = 1;
  options.epochs = 30;
  options.burn_in = 20;
  options.validation_burn_in = 50;
  const Watched run = watch(data, options);
  const SmallData unseen = draw(synthetic_hqmm(), 20, 1, 200, 77);
  const double truth = mean_da(synthetic_hqmm(), unseen.train, 50);
  const double found = mean_da(run.result.model, unseen.train, 50);
  EXPECT_NEAR(found, truth, 0.01);
  for (const EpochRecord& record : run.records) EXPECT_LE(record.feasibility_residual, 1e-12);
  EXPECT_EQ(run.result.status, TrainStatus::kMaxEpochs);
}

TEST(Trainer, AnHqmmOfTwoStatesBeatsAnHmmOfTwoStatesOnDataOfAnHmm) {
  const SmallData data = draw(synthetic_hmm(), 40, 10, 300);
  TrainOptions em = quick(LearnerKind::kEm);
  em.epochs = 200;
  em.restarts = 4;
  em.validation_burn_in = 20;
  TrainOptions ns_ris = quick(LearnerKind::kNsRis);
  ns_ris.epochs = 30;
  ns_ris.burn_in = 20;
  ns_ris.validation_burn_in = 20;
  const AnyModel hmm = train(data.train, data.validation, em).model;
  const AnyModel hqmm = train(data.train, data.validation, ns_ris).model;
  const SmallData unseen = draw(synthetic_hmm(), 20, 1, 300, 78);
  EXPECT_GT(mean_da(hqmm, unseen.train, 20), mean_da(hmm, unseen.train, 20) + 0.02);
  EXPECT_LT(mean_da(hqmm, unseen.train, 20), mean_da(synthetic_hmm(), unseen.train, 20) + 0.002);
}

TEST(Trainer, CosmLearnsToo) {
  const SmallData data = draw(synthetic_hqmm(), 40, 20, 200);
  TrainOptions options = quick(LearnerKind::kCosm);
  options.kraus_rank = 1;
  options.epochs = 30;
  options.burn_in = 20;
  options.validation_burn_in = 50;
  const Watched run = watch(data, options);
  EXPECT_NEAR(mean_da(run.result.model, data.validation, 50),
              mean_da(synthetic_hqmm(), data.validation, 50), 0.01);
  for (const EpochRecord& record : run.records) EXPECT_LE(record.feasibility_residual, 1e-12);
}

TEST(Trainer, LiteralScoresAboveTheTruthRawAndBelowItNormalised) {
  const SmallData data = draw(synthetic_hmm(), 20, 10, 100);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.retraction = RetractionKind::kLiteral;
  options.latent_dim = 6;
  options.epochs = 6;
  const Watched run = watch(data, options);
  EXPECT_EQ(run.result.status, TrainStatus::kMaxEpochs);
  EXPECT_FALSE(is_feasible(run.result.model));
  ASSERT_EQ(run.records.size(), 7U);
  EXPECT_FALSE(run.records[0].validation.raw_da.has_value()) << "the start is feasible";
  for (std::size_t i = 1; i < run.records.size(); ++i) {
    const EpochRecord& record = run.records[i];
    ASSERT_TRUE(record.validation.raw_da && record.validation.da);
    EXPECT_GT(*record.validation.raw_da, *record.validation.da + 0.05);
    EXPECT_GT(*record.train->raw_log_likelihood, record.train->log_likelihood);
    EXPECT_GT(record.feasibility_residual, 0.01);
  }
  EXPECT_GT(run.result.restarts[0].best_validation,
            testing::total_log_likelihood(run.result.model, data.validation))
      << "selected by the raw figure, as the paper does";
}

// Selection and the record of a run.

TEST(Trainer, KeepsTheCandidateWithTheBestValidationScore) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.restarts = 2;
    const Watched run = watch(data, options);
    double best = -std::numeric_limits<double>::infinity();
    const EpochRecord* winner = nullptr;
    for (const EpochRecord& record : run.records) {
      EXPECT_EQ(record.best, record.validation.log_likelihood > best);
      if (!record.best) continue;
      best = record.validation.log_likelihood;
      winner = &record;
    }
    ASSERT_NE(winner, nullptr);
    EXPECT_EQ(winner->restart, run.result.best_restart);
    EXPECT_EQ(winner->epoch, run.result.best_epoch);
    EXPECT_NEAR(testing::total_log_likelihood(run.result.model, data.validation), best, 1e-9);
    ASSERT_EQ(run.result.restarts.size(), 2U);
    EXPECT_EQ(run.records.size(),
              run.result.restarts[0].epochs_run + run.result.restarts[1].epochs_run + 2);
  }
}

TEST(Trainer, RecordsWhatAnEpochWasLike) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  TrainOptions options = quick(LearnerKind::kNsRis);
  const Watched run = watch(data, options);
  ASSERT_EQ(run.records.size(), options.epochs + 1);
  EXPECT_FALSE(run.records[0].train.has_value());
  double seconds = 0.0;
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    const EpochRecord& record = run.records[i];
    EXPECT_EQ(record.epoch, i);
    EXPECT_EQ(record.validation.symbols, 6U * 80U);
    EXPECT_GE(record.seconds, seconds);
    seconds = record.seconds;
    if (i == 0) continue;
    EXPECT_EQ(record.step_size, step_size_at(options, i - 1));
    EXPECT_EQ(record.train->symbols, 12U * 80U);
    EXPECT_GT(record.gradient_nuclear_norm, 0.0);
    EXPECT_FALSE(record.train->raw_da.has_value());
  }
}

// Determinism.

TEST(Trainer, TheSameSeedGivesTheSameBytesAtAnyThreadCount) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    const std::string once = bytes_of(train(data.train, data.validation, options).model);
    options.threads = 2;
    EXPECT_EQ(bytes_of(train(data.train, data.validation, options).model), once);
    options.seed = 2;
    EXPECT_NE(bytes_of(train(data.train, data.validation, options).model), once);
  }
}

TEST(Trainer, RestartsDiffer) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.restarts = 2;
    const TrainResult result = train(data.train, data.validation, options);
    EXPECT_NE(result.restarts[0].best_validation, result.restarts[1].best_validation);
    options.restarts = 1;
    const TrainResult first = train(data.train, data.validation, options);
    EXPECT_EQ(first.restarts[0].best_validation, result.restarts[0].best_validation);
  }
}

// Stopping.

/// Rounds of epochs, restart by restart.
TEST(Trainer, RestartsGoSideBySide) {
  const SmallData data = draw(synthetic_hmm(), 10, 4, 60);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.restarts = 3;
  options.epochs = 2;
  const Watched run = watch(data, options);
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (const EpochRecord& record : run.records) order.emplace_back(record.epoch, record.restart);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 9U);
}

TEST(Trainer, ARestartIsTheSameAloneAndBesideOthers) {
  const SmallData data = draw(synthetic_hmm(), 10, 4, 60);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.restarts = 1;
  const TrainResult alone = train(data.train, data.validation, options);
  options.restarts = 4;
  const TrainResult among = train(data.train, data.validation, options);
  EXPECT_EQ(among.restarts[0].best_validation, alone.restarts[0].best_validation);
}

TEST(Trainer, HalvingLetsTheBetterHalfGoOn) {
  const SmallData data = draw(synthetic_hmm(), 10, 4, 60);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.restarts = 8;
  options.epochs = 12;
  options.halving = true;
  const Watched run = watch(data, options);
  std::vector<std::size_t> restarts(13, 0);  // by epoch
  for (const EpochRecord& record : run.records) ++restarts[record.epoch];
  EXPECT_EQ(restarts, (std::vector<std::size_t>{8, 8, 8, 8, 4, 4, 4, 2, 2, 2, 1, 1, 1}));
  ASSERT_EQ(run.result.restarts.size(), 8U);
  // those dropped at epoch 3 were no better there than those that went on
  const auto worth_at_3 = [&](std::size_t restart) {
    double best = -std::numeric_limits<double>::infinity();
    for (const EpochRecord& record : run.records)
      if (record.restart == restart && record.epoch <= 3)
        best = std::max(best, record.validation.log_likelihood);
    return best;
  };
  for (const RestartSummary& dropped : run.result.restarts) {
    if (dropped.epochs_run != 3) continue;
    EXPECT_EQ(dropped.status, TrainStatus::kDropped);
    for (const RestartSummary& kept : run.result.restarts) {
      if (kept.epochs_run > 3) {
        EXPECT_LE(worth_at_3(dropped.restart), worth_at_3(kept.restart));
      }
    }
  }
  EXPECT_EQ(run.result.epochs_run, 12U);
  for (const int threads : {1, 3}) {
    options.threads = threads;
    EXPECT_EQ(bytes_of(train(data.train, data.validation, options).model),
              bytes_of(run.result.model));
  }
}

TEST(Trainer, AStopRequestReturnsTheBestSoFar) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.tolerance = 0.0;
    std::size_t epochs = 0;
    TrainHooks hooks;
    hooks.on_epoch = [&](const EpochRecord& record) { epochs = record.epoch; };
    hooks.stop_requested = [&] { return epochs >= 2; };
    const TrainResult stopped = train(data.train, data.validation, options, hooks);
    EXPECT_EQ(stopped.status, TrainStatus::kInterrupted);
    ASSERT_EQ(stopped.restarts.size(), 1U);
    EXPECT_EQ(stopped.restarts[0].epochs_run, 2U);

    // The schedule depends on the number of epochs; a constant one does not.
    options.schedule = ScheduleKind::kConstant;
    const AnyModel interrupted = train(data.train, data.validation, options, hooks).model;
    epochs = 0;
    options.epochs = 2;
    EXPECT_EQ(bytes_of(interrupted), bytes_of(train(data.train, data.validation, options).model));
  }
}

TEST(Trainer, ATimeLimitReturnsTheBestSoFar) {
  const SmallData data = draw(synthetic_hmm(), 12, 6, 80);
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.epochs = 1000000;
    options.tolerance = 0.0;
    options.restarts = 3;
    options.time_limit = 0.05;
    const TrainResult result = train(data.train, data.validation, options);
    EXPECT_EQ(result.status, TrainStatus::kTimeLimit);
    ASSERT_EQ(result.restarts.size(), 3U);
    for (const RestartSummary& one : result.restarts)
      EXPECT_TRUE(one.status == TrainStatus::kTimeLimit || one.status == TrainStatus::kConverged);
    EXPECT_LT(result.seconds, 2.0);
    expect_feasible(result.model);
  }
}

TEST(Trainer, PatienceEndsARunThatDoesNotImprove) {
  const SmallData data = draw(synthetic_hmm(), 4, 2, 40);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.step_size = 0.0;  // no epoch is better than the start
  options.average = 0.0;
  options.epochs = 50;
  options.patience = 3;
  const Watched run = watch(data, options);
  EXPECT_EQ(run.result.status, TrainStatus::kConverged);
  EXPECT_LE(run.result.epochs_run, 6U);  // rounding may find something in the first ones
  EXPECT_GE(run.result.epochs_run, 3U);
  options.patience = 0;
  EXPECT_EQ(watch(data, options).result.epochs_run, 50U);
}

TEST(Trainer, EmStopsWhenTheLikelihoodHasSettled) {
  const SmallData data = draw(synthetic_hmm(), 6, 3, 80);
  TrainOptions options = quick(LearnerKind::kEm);
  options.epochs = 600;
  options.tolerance = 1e-3;
  const Watched run = watch(data, options);
  EXPECT_EQ(run.result.status, TrainStatus::kConverged);
  ASSERT_GE(run.records.size(), 3U);
  const auto& last = run.records.back();
  const auto& before = run.records[run.records.size() - 2];
  EXPECT_LE(std::abs(last.train->log_likelihood - before.train->log_likelihood),
            1e-3 * std::abs(last.train->log_likelihood));
}

TEST(Trainer, DivergenceIsAStatusThatNamesThePlace) {
  // The start gives symbol 1 the probability zero, and training meets it in the second sequence.
  KrausSet set(2, 1, 1);
  set.op(0, 0)(0, 0) = 1.0;
  const Hqmm start = stationary_hqmm(Alphabet::integers(2), set, maximally_mixed(1));
  SmallData data;
  data.train = SequenceSet(Alphabet::integers(2), {{0, 0, 0}, {0, 0, 1}});
  data.validation = SequenceSet(Alphabet::integers(2), {{0, 0}});
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.latent_dim = 1;
  options.kraus_rank = 1;
  const Watched run = watch(data, options, start);
  EXPECT_EQ(run.result.status, TrainStatus::kDiverged);
  EXPECT_EQ(run.result.message, "the loss is not finite at sequence 1, symbol 2 (epoch 1)");
  EXPECT_EQ(bytes_of(run.result.model), bytes_of(start));
}

}  // namespace
}  // namespace hqmm::detail
