// Data and options at the edge: a run works, or stops with one clear error; what it returns is
// always a model.
#include <gtest/gtest.h>

#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;
using testing::expect_feasible;
using testing::kAllLearners;
using testing::quick;

using Sequences = std::vector<std::vector<Symbol>>;

SequenceSet set_of(std::size_t s, const Sequences& sequences) {
  return {Alphabet::integers(s), sequences};
}

/// Every learner must train on this and return a model.
void expect_trains(const SequenceSet& train_set, const SequenceSet& validation_set,
                   const std::function<void(TrainOptions&)>& change = {}) {
  for (const LearnerKind learner : kAllLearners) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    if (change) change(options);
    TrainResult result;
    ASSERT_NO_THROW(result = train(train_set, validation_set, options));
    EXPECT_NE(result.status, TrainStatus::kDiverged) << result.message;
    expect_feasible(result.model);
  }
}

TEST(Degenerate, OneSymbolInTheAlphabet) {
  const SequenceSet set = set_of(1, {{0, 0, 0}, {0, 0}});
  expect_trains(set, set);
  expect_trains(set, set, [](TrainOptions& o) { o.latent_dim = o.kraus_rank = 1; });
}

TEST(Degenerate, OneSymbolSeenOfTwo) {
  const SequenceSet set = set_of(2, {{0, 0, 0, 0}, {0, 0, 0}});
  expect_trains(set, set);
  expect_trains(set, set, [](TrainOptions& o) { o.latent_dim = 1; });
}

TEST(Degenerate, ASymbolNeverSeenInTraining) {
  const SequenceSet seen = set_of(3, {{0, 1, 0, 1, 1}, {1, 0, 0}});
  expect_trains(seen, set_of(3, {{0, 2, 1, 0}}));
}

TEST(Degenerate, OneSequence) {
  const SequenceSet one = set_of(2, {{0, 1, 0, 0, 1, 1, 0, 1}});
  expect_trains(one, one);
}

TEST(Degenerate, SequencesOfLengthOne) {
  const SequenceSet set = set_of(2, {{0}, {1}, {0}});
  expect_trains(set, set);
}

TEST(Degenerate, EmptySequencesAmongOthers) {
  const SequenceSet set = set_of(2, {{}, {0, 1, 1}, {}, {1, 0}});
  expect_trains(set, set);
}

TEST(Degenerate, TrainingSymbolsAllMissing) {
  const SequenceSet missing = set_of(2, {{kMissing, kMissing}, {kMissing}});
  expect_trains(missing, set_of(2, {{0, 1}}));
}

TEST(Degenerate, NothingToTrainOnIsAnError) {
  const SequenceSet good = set_of(2, {{0, 1, 0}});
  for (const LearnerKind learner : kAllLearners) {
    expect_error(ErrorCode::kBadData, "nothing to train on",
                 [&] { return train(set_of(2, {}), good, quick(learner)); });
    expect_error(ErrorCode::kBadData, "alphabet has no symbols",
                 [&] { return train(set_of(0, {{kMissing}}), good, quick(learner)); });
    expect_error(ErrorCode::kBadData, "training symbol 7 is beyond the alphabet's 0..1", [&] {
      return train(set_of(2, {{0, 7}}), good, quick(learner));
    });
  }
}

// With nothing scored every candidate would tie, and the random start would be returned as "best".
TEST(Degenerate, NothingToValidateOnIsAnError) {
  const SequenceSet good = set_of(2, {{0, 1, 0}});
  for (const LearnerKind learner : kAllLearners) {
    TrainOptions options = quick(learner);
    for (const Sequences& bad : {Sequences{}, Sequences{{}}}) {
      expect_error(ErrorCode::kBadData, "no validation symbol is left",
                   [&] { return train(good, set_of(2, bad), options); });
    }
    expect_error(ErrorCode::kBadData, "every symbol of the validation data is missing", [&] {
      return train(good, set_of(2, {{kMissing, kMissing}}), options);
    });
    options.validation_burn_in = 3;
    expect_error(ErrorCode::kBadData, "after the burn-in of 3: the longest sequence has 3",
                 [&] { return train(good, good, options); });
    expect_error(ErrorCode::kBadData, "alphabet", [&] {
      return train(good, set_of(5, {{0, 4}}), quick(learner));
    });
  }
}

TEST(Degenerate, SequencesShorterThanTheBurnInAreAnErrorOrLeftOut) {
  const SequenceSet shorts = set_of(2, {{0, 1, 0}, {1, 1}});
  for (const LearnerKind learner :
       {LearnerKind::kNsRis, LearnerKind::kCosm, LearnerKind::kGivens}) {
    TrainOptions options = quick(learner);
    options.burn_in = 3;
    expect_error(ErrorCode::kBadData, "after the burn-in of 3: the longest sequence has 3",
                 [&] { return train(shorts, shorts, options); });
  }
  expect_trains(set_of(2, {{0, 1, 0}, {1, 1}, {1, 0, 0, 1, 0}}), shorts,
                [](TrainOptions& o) { o.burn_in = 3; });
}

TEST(Degenerate, NoEpochReturnsTheStart) {
  const SequenceSet set = set_of(2, {{0, 1, 0, 0, 1}});
  expect_trains(set, set, [](TrainOptions& o) { o.epochs = 0; });
}

TEST(Degenerate, StepSizesOfZeroAndOfAMillion) {
  const testing::SmallData data = testing::draw(synthetic_hmm(), 6, 3, 50);
  for (const double step_size : {0.0, 1e6}) {
    for (const double average : {0.0, 0.98}) {
      for (const auto state : {InitialStateKind::kUniform, InitialStateKind::kPure}) {
        expect_trains(data.train, data.validation, [&](TrainOptions& o) {
          o.step_size = step_size;
          o.average = average;
          o.initial_state = state;
        });
      }
    }
  }
}

TEST(Degenerate, LiteralStepsOfAnySizeGiveAFiniteModel) {
  const testing::SmallData data = testing::draw(synthetic_hmm(), 6, 3, 50);
  for (const double step_size : {0.0, 0.2, 30.0, 1e6}) {
    for (const Index n : {1, 2, 6}) {
      TrainOptions options = quick(LearnerKind::kNsRis);
      options.retraction = RetractionKind::kLiteral;
      options.latent_dim = n;
      options.step_size = step_size;
      const TrainResult result = train(data.train, data.validation, options);
      EXPECT_EQ(result.status, TrainStatus::kMaxEpochs) << result.message;
      testing::expect_valid(result.model);
    }
  }
}

TEST(Degenerate, MoreStatesThanSymbols) {
  const SequenceSet set = set_of(2, {{0, 1, 0, 0, 1}, {1, 1}});
  expect_trains(set, set, [](TrainOptions& o) {
    o.latent_dim = 7;
    o.kraus_rank = 1;
  });
}

TEST(Degenerate, ABatchLargerThanTheData) {
  const SequenceSet set = set_of(2, {{0, 1, 0, 0, 1}, {1, 1}});
  expect_trains(set, set, [](TrainOptions& o) { o.batch_size = 1000; });
}

}  // namespace
}  // namespace hqmm::detail
