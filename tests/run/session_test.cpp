// A session: planned once, warmed, trained, scored, and the same bytes however it was interrupted.
#include "hqmm/run/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hqmm/core/error.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/files.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::quick;
using testing::SmallData;
using testing::TemporaryFolder;

SmallData session_sets() { return testing::draw(synthetic_hmm(), 6, 3, 50); }

SessionData session_of(const SmallData& data) {
  return {borrowed(data.train), borrowed(data.validation), {}, "train.txt", "validation.txt"};
}

SessionData session_of_sets(const std::vector<std::vector<Symbol>>& train,
                            const std::vector<std::vector<Symbol>>& validation) {
  const Alphabet alphabet = Alphabet::integers(2);
  return {std::make_shared<const SequenceSet>(alphabet, train),
          std::make_shared<const SequenceSet>(alphabet, validation),
          {},
          "train.txt",
          "validation.txt"};
}

/// Stops a run while its epoch `last` is under way.
SessionHooks stopping_after(Stage stage, std::size_t last) {
  const auto over = std::make_shared<bool>(false);
  SessionHooks hooks;
  hooks.on_epoch = [=](Stage at, const EpochRecord& record) {
    if (at == stage && record.epoch >= last) *over = true;
  };
  hooks.stop_requested = [=] { return *over; };
  return hooks;
}

TEST(Session, ScoresWhatItTrainedUnderItsPlan) {
  const SmallData data = session_sets();
  const Session session(session_of(data), quick(LearnerKind::kNsRis));
  const SessionResult found = session.run({});
  EXPECT_EQ(bytes_of(found.trained.model),
            bytes_of(train(data.train, data.validation, quick(LearnerKind::kNsRis)).model));
  const Score again =
      score(found.trained.model, data.validation, {.burn_in = session.plan().validation_burn_in});
  EXPECT_EQ(found.scores.validation.log_likelihood, again.log_likelihood);
  EXPECT_GT(found.scores.train.symbols, 0U);
  const auto kept = nlohmann::json::parse(found.provenance);
  EXPECT_EQ(kept.at("command"), "train");
  EXPECT_FALSE(kept.contains("warm_start"));
  EXPECT_EQ(kept.at("validation").at("log_likelihood"), again.log_likelihood);
}

TEST(Session, ASelectionIsScoredOnValidationOnly) {
  const SmallData data = session_sets();
  SessionRequest request;
  request.report = Report::kSelect;
  const SessionResult found = Session(session_of(data), quick(LearnerKind::kNsRis)).run(request);
  EXPECT_GT(found.scores.validation.symbols, 0U);
  EXPECT_EQ(found.scores.train.symbols, 0U);
  EXPECT_EQ(nlohmann::json::parse(found.provenance).at("command"), "select");
}

TEST(Session, EmWarmsARunAndComesFirst) {
  const SmallData data = session_sets();
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.kraus_rank = options.latent_dim;
  const Session session(session_of(data), options);
  std::vector<Stage> stages;
  SessionRequest request;
  request.warm_start.kind = WarmStart::Kind::kEm;
  request.hooks.on_stage = [&](Stage stage, const TrainOptions&) { stages.push_back(stage); };
  const SessionResult found = session.run(request);
  EXPECT_EQ(stages, (std::vector{Stage::kWarmStart, Stage::kTraining}));
  EXPECT_GT(found.warm_start_seconds, 0.0);
  EXPECT_EQ(nlohmann::json::parse(found.provenance).at("warm_start"), "em");
  const AnyModel hmm = train(data.train, data.validation, em_start_options(options)).model;
  EXPECT_EQ(bytes_of(found.trained.model),
            bytes_of(train(data.train, data.validation, options, {}, {.model = hmm}).model));
  SessionRequest by_hand;
  by_hand.warm_start = {WarmStart::Kind::kModel, hmm};
  const SessionResult second = session.run(by_hand);
  EXPECT_EQ(bytes_of(second.trained.model), bytes_of(found.trained.model));
  EXPECT_EQ(nlohmann::json::parse(second.provenance).at("warm_start"), "model");
}

TEST(Session, ARunThatGoesOnEndsWithTheSameBytes) {
  const SmallData data = session_sets();
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.kraus_rank = options.latent_dim;
  options.epochs = 5;
  const Session session(session_of(data), options);
  SessionRequest request;
  request.warm_start.kind = WarmStart::Kind::kEm;
  const SessionResult whole = session.run(request);
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run").string();
  {
    ActiveRun run(path, "{}");
    SessionRequest first = request;
    first.run = &run;
    first.hooks = stopping_after(Stage::kTraining, 2);
    EXPECT_EQ(session.run(first).trained.status, TrainStatus::kInterrupted);
    EXPECT_TRUE(run.has("warm_start.h5"));
  }
  ActiveRun run(path);
  request.run = &run;
  request.resume = true;
  bool warmed_again = false;
  request.hooks.on_stage = [&](Stage stage, const TrainOptions&) {
    warmed_again = warmed_again || stage == Stage::kWarmStart;
  };
  const SessionResult found = session.run(request);
  EXPECT_FALSE(warmed_again);
  EXPECT_EQ(bytes_of(found.trained.model), bytes_of(whole.trained.model));
  EXPECT_EQ(found.provenance, whole.provenance);
}

TEST(Session, StoppedInTheWarmStartHasNoModel) {
  const SmallData data = session_sets();
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.kraus_rank = options.latent_dim;
  SessionRequest request;
  request.warm_start.kind = WarmStart::Kind::kEm;
  request.hooks = stopping_after(Stage::kWarmStart, 1);
  const SessionResult found = Session(session_of(data), options).run(request);
  EXPECT_EQ(found.ended_in, Stage::kWarmStart);
  EXPECT_EQ(found.trained.status, TrainStatus::kInterrupted);
  EXPECT_TRUE(found.provenance.empty());
}

TEST(Session, AWarmStartNeedsItsModel) {
  const SmallData data = session_sets();
  SessionRequest request;
  request.warm_start.kind = WarmStart::Kind::kModel;
  const Session session(session_of(data), quick(LearnerKind::kNsRis));
  testing::expect_error(ErrorCode::kUsage, "has no model", [&] { (void)session.run(request); });
}

TEST(Session, HoldsOutAShareWithoutAValidationSet) {
  const SmallData data = session_sets();
  const SessionData split = session_data(borrowed(data.train), nullptr, 0.5, 1);
  EXPECT_EQ(split.train->size() + split.validation->size(), data.train.size());
  EXPECT_EQ(split.validation->size(), 3U);
  EXPECT_NE(split.how.find("held out"), std::string::npos);
  const SessionData given = session_data(borrowed(data.train), borrowed(data.validation), 0.5, 1);
  EXPECT_EQ(given.validation.get(), &data.validation);
  EXPECT_TRUE(given.how.empty());
}

/// The error of making a session, as a line.
std::string refusal(const SessionData& data, const TrainOptions& options) {
  try {
    const Session session(data, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.what();
  }
  return "none";
}

TEST(Session, NamesTheFileOfDataThatNoRunCouldUse) {
  const std::vector<std::vector<Symbol>> good{{0, 1, 0}};
  TrainOptions options = quick(LearnerKind::kNsRis);
  EXPECT_EQ(refusal(session_of_sets({{kMissing}}, good), options),
            "train.txt: every symbol of the training data is missing");
  EXPECT_EQ(refusal(session_of_sets(good, {{kMissing}}), options),
            "validation.txt: every symbol of the validation data is missing");
  options.validation_burn_in = 3;
  EXPECT_EQ(refusal(session_of_sets(good, good), options),
            "validation.txt: no validation symbol is left after the burn-in of 3: the longest "
            "sequence has 3 (use a smaller validation_burn_in)");
  options.validation_burn_in = 0;
  options.burn_in = 3;
  EXPECT_EQ(refusal(session_of_sets(good, good), options),
            "train.txt: no training symbol is left after the burn-in of 3: the longest sequence "
            "has 3 (use a smaller burn_in)");
}

}  // namespace
}  // namespace hqmm::detail
