// A run that goes on from any of its checkpoints ends like one that was never interrupted.
#include "hqmm/run/checkpoint_file.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/random_models.hpp"
#include "support/files.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::expect_error;
using testing::quick;
using testing::SmallData;

constexpr const char* kRun = "0123456789abcdef";

SmallData checkpoint_data() { return testing::draw(synthetic_hmm(), 10, 4, 60); }

void expect_same_result(const TrainResult& found, const TrainResult& expected) {
  EXPECT_EQ(bytes_of(found.model), bytes_of(expected.model));
  EXPECT_EQ(found.status, expected.status);
  EXPECT_EQ(found.epochs_run, expected.epochs_run);
  EXPECT_EQ(found.best_epoch, expected.best_epoch);
  EXPECT_EQ(found.best_restart, expected.best_restart);
  ASSERT_EQ(found.restarts.size(), expected.restarts.size());
  for (std::size_t i = 0; i < found.restarts.size(); ++i) {
    EXPECT_EQ(found.restarts[i].restart, expected.restarts[i].restart);
    EXPECT_EQ(found.restarts[i].status, expected.restarts[i].status);
    EXPECT_EQ(found.restarts[i].epochs_run, expected.restarts[i].epochs_run);
    EXPECT_EQ(found.restarts[i].best_epoch, expected.restarts[i].best_epoch);
    EXPECT_EQ(found.restarts[i].best_validation, expected.restarts[i].best_validation);
  }
}

/// What goes on says at once where it stands.
void expect_told(const Resumption& told, const Checkpoint& from, const std::vector<double>& best) {
  EXPECT_EQ(told.epoch, from.live.front().summary.epochs_run);
  EXPECT_EQ(told.seconds, from.seconds);
  EXPECT_EQ(told.best.da, best.at(told.epoch));
}

/// Resumes from every checkpoint of a run, each taken through its file.
void expect_resumable(const TrainOptions& options, const std::optional<AnyModel>& warm = {}) {
  const SmallData data = checkpoint_data();
  std::vector<std::string> files;
  std::vector<double> best;  // description accuracy by the end of each epoch
  TrainHooks hooks;
  hooks.on_checkpoint = [&](const Checkpoint& checkpoint) {
    files.push_back(serialize_checkpoint(checkpoint, kRun));
  };
  hooks.on_resume = [](const Resumption&) { FAIL() << "it begins anew"; };
  hooks.on_epoch = [&](const EpochRecord& record) {
    if (best.size() <= record.epoch) best.push_back(best.empty() ? 0.0 : best.back());
    if (record.best) best[record.epoch] = record.validation.da.value();
  };
  const TrainResult whole = train(data.train, data.validation, options, hooks, {.model = warm});
  ASSERT_GE(files.size(), 2U);
  for (std::size_t k = 0; k < files.size(); ++k) {
    SCOPED_TRACE("from checkpoint " + std::to_string(k));
    const Checkpoint from = parse_checkpoint(files[k], "checkpoint.h5", kRun);
    EXPECT_EQ(serialize_checkpoint(from, kRun), files[k]);
    std::vector<std::size_t> epochs;
    TrainHooks later;
    bool told = false;
    later.on_resume = [&](const Resumption& at) {
      told = epochs.empty();
      expect_told(at, from, best);
    };
    later.on_epoch = [&](const EpochRecord& record) { epochs.push_back(record.epoch); };
    expect_same_result(
        train(data.train, data.validation, options, later, {.model = warm, .checkpoint = &from}),
        whole);
    ASSERT_EQ(epochs.empty(), from.live.empty());
    EXPECT_EQ(told, !from.live.empty());
    if (!epochs.empty()) {
      EXPECT_EQ(epochs[0], from.live.front().summary.epochs_run + 1) << "an epoch done twice";
    }
  }
}

TEST(Checkpoint, NsRisWithAveragingGoesOn) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.restarts = 2;
  expect_resumable(options);
}

TEST(Checkpoint, NsRisWithALearnedInitialStateGoesOn) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.initial_state = InitialStateKind::kLearned;
  expect_resumable(options);
}

TEST(Checkpoint, StructuredModelsGoOn) {
  for (const LearnerKind learner :
       {LearnerKind::kNsRis, LearnerKind::kCosm, LearnerKind::kGivens}) {
    for (const Field field : {Field::kComplex, Field::kReal}) {
      TrainOptions options = quick(learner);
      options.field = field;
      options.emission = EmissionKind::kState;
      options.restarts = 2;
      expect_resumable(options);
    }
  }
}

TEST(Checkpoint, HalvedRestartsGoOn) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.field = Field::kReal;
  options.restarts = 5;
  options.halving = true;
  options.epochs = 8;
  expect_resumable(options);
}

TEST(Checkpoint, LiteralNsRisGoesOn) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.retraction = RetractionKind::kLiteral;
  options.latent_dim = 4;
  expect_resumable(options);
}

TEST(Checkpoint, CosmWithAPureInitialStateGoesOn) {
  TrainOptions options = quick(LearnerKind::kCosm);
  options.initial_state = InitialStateKind::kPure;
  options.average = 0.0;
  expect_resumable(options);
}

TEST(Checkpoint, GivensGoesOn) {
  TrainOptions options = quick(LearnerKind::kGivens);
  options.restarts = 2;
  expect_resumable(options);
}

TEST(Checkpoint, EmWithRestartsGoesOn) {
  TrainOptions options = quick(LearnerKind::kEm);
  options.restarts = 2;
  options.epochs = 12;
  options.tolerance = 1e-3;  // so that a restart converges, and a checkpoint says so
  expect_resumable(options);
}

TEST(Checkpoint, AWarmStartWithPatienceGoesOn) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.patience = 2;
  options.epochs = 6;
  options.restarts = 2;
  RandomStream random(3, Purpose::kTest);
  expect_resumable(options, random_hmm(Alphabet::integers(6), 2, random));
}

/// After the first epoch.
std::string some_checkpoint(const TrainOptions& options) {
  const SmallData data = checkpoint_data();
  std::string file;
  TrainHooks hooks;
  hooks.on_checkpoint = [&](const Checkpoint& checkpoint) {
    if (file.empty()) file = serialize_checkpoint(checkpoint, kRun);
  };
  static_cast<void>(train(data.train, data.validation, options, hooks));
  return file;
}

/// Written by 0.1.0 before restarts went side by side.
TEST(Checkpoint, ATimeLimitIsOnTheWorkSinceThen) {
  const SmallData data = checkpoint_data();
  TrainOptions options = quick(LearnerKind::kNsRis);
  std::optional<Checkpoint> first;
  TrainHooks hooks;
  hooks.on_checkpoint = [&](const Checkpoint& checkpoint) {
    if (!first) first = checkpoint;
  };
  static_cast<void>(train(data.train, data.validation, options, hooks));
  first.value().seconds = 1e6;
  options.time_limit = 1e5;
  const TrainResult found = train(data.train, data.validation, options, {},
                                  {.model = std::nullopt, .checkpoint = &*first});
  EXPECT_EQ(found.status, TrainStatus::kMaxEpochs);
  EXPECT_GE(found.seconds, 1e6) << "what it took is all of it";
}

TEST(Checkpoint, OfVersion1IsRead) {
  const std::string bytes =
      testing::contents(testing::source_dir() / "fuzz/seeds/checkpoint/ns_ris.h5");
  const Checkpoint found =
      parse_checkpoint(seal_checkpoint(bytes), "checkpoint.h5", "0000000000000000");
  ASSERT_EQ(found.live.size(), 1U);
  EXPECT_EQ(found.live[0].summary.epochs_run, 2U);
  EXPECT_EQ(found.live[0].learner.size(), 3U);
  EXPECT_TRUE(found.finished.empty());
}

TEST(Checkpoint, OfAnotherRunIsRefused) {
  const std::string file = some_checkpoint(quick(LearnerKind::kEm));
  expect_error(ErrorCode::kBadData, "run/checkpoint.h5: belongs to another run",
               [&] { return parse_checkpoint(file, "run/checkpoint.h5", "another"); });
}

TEST(Checkpoint, CutShortIsRefused) {
  const std::string file = some_checkpoint(quick(LearnerKind::kNsRis));
  for (std::size_t size = 0; size < file.size(); size += 1 + file.size() / 40) {
    expect_error(ErrorCode::kBadData, "run/checkpoint.h5",
                 [&] { return parse_checkpoint(file.substr(0, size), "run/checkpoint.h5", kRun); });
  }
}

TEST(Checkpoint, AFlippedBitAnywhereIsRefused) {
  const std::string file = some_checkpoint(quick(LearnerKind::kNsRis));
  for (std::size_t at = 0; at < file.size(); at += 13) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    expect_error(ErrorCode::kBadData, "run/checkpoint.h5: the checkpoint is damaged",
                 [&] { return parse_checkpoint(damaged, "run/checkpoint.h5", kRun); });
  }
}

TEST(Checkpoint, OfAnotherShapeIsRefused) {
  const SmallData data = checkpoint_data();
  for (const LearnerKind learner : testing::kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    Checkpoint from = parse_checkpoint(some_checkpoint(options), "checkpoint.h5", kRun);
    const auto refused = [&] {
      expect_error(ErrorCode::kBadData, "does not match", [&] {
        return train(data.train, data.validation, options, {},
                     {.model = std::nullopt, .checkpoint = &from});
      });
    };
    LearnerState& state = from.live.front().learner;
    state.begin()->second.pop_back();
    refused();
    state.clear();
    refused();
    from.live.front().summary.restart = options.restarts;
    refused();
  }
}

}  // namespace
}  // namespace hqmm::detail
