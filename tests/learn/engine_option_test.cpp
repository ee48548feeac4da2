// The engine a run is told to use: it is used, learns the same, and is refused before the first
// epoch when it does not fit the data.
#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/descent.hpp"
#include "hqmm/learn/rules.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;
using testing::quick;

TrainOptions options_for(LearnerKind learner, EngineKind engine) {
  TrainOptions options = quick(learner);
  options.kraus_rank = 1;
  options.initial_state = InitialStateKind::kPure;
  options.engine = engine;
  return options;
}

TEST(EngineOption, EveryEngineLearnsTheSame) {
  const testing::SmallData data = testing::draw(synthetic_hqmm(), 10, 4, 80);
  for (const LearnerKind learner : {LearnerKind::kNsRis, LearnerKind::kCosm}) {
    const TrainResult naive =
        train(data.train, data.validation, options_for(learner, EngineKind::kNaive));
    const double expected = testing::total_log_likelihood(naive.model, data.validation);
    for (const EngineKind engine :
         {EngineKind::kAuto, EngineKind::kFactor, EngineKind::kPure, EngineKind::kLanes,
          EngineKind::kSuperoperator, EngineKind::kKraus}) {
      SCOPED_TRACE(name_of(engine));
      const TrainResult found = train(data.train, data.validation, options_for(learner, engine));
      EXPECT_EQ(found.best_epoch, naive.best_epoch);
      EXPECT_NEAR(testing::total_log_likelihood(found.model, data.validation), expected,
                  1e-8 * std::abs(expected));
    }
  }
}

TEST(EngineOption, ReachesTheGradient) {
  const testing::SmallData data = testing::draw(synthetic_hqmm(), 3, 1, 30);
  const Chunks chunks = cut(data.train, {0, 0});
  TrainOptions options = options_for(LearnerKind::kNsRis, EngineKind::kPure);
  options.initial_state = InitialStateKind::kUniform;  // which is not pure
  Hqmm start = std::get<Hqmm>(AnyModel(synthetic_hqmm()));
  start.initial_state = maximally_mixed(2);
  DescentLearner learner(start, chunks, 0, options, 0, make_ns_ris(options));
  expect_error(ErrorCode::kUsage, "engine pure does not fit",
               [&] { learner.run_epoch(0, [] { return false; }); });
}

TEST(EngineOption, IsRefusedBeforeTheFirstEpochWhenTheDataDoesNotFit) {
  const SequenceSet some(Alphabet::integers(2), {{0, 1, 0, 1, 1}, {1, 0, kMissing, 0, 1}});
  const SequenceSet whole(Alphabet::integers(2), {{0, 1, 1}});
  TrainHooks hooks;
  hooks.on_epoch = [](const EpochRecord&) { ADD_FAILURE() << "an epoch was begun"; };
  for (const EngineKind engine : {EngineKind::kFactor, EngineKind::kPure}) {
    expect_error(ErrorCode::kUsage, "missing symbols", [&] {
      static_cast<void>(train(some, whole, options_for(LearnerKind::kCosm, engine), hooks));
    });
  }
  EXPECT_NO_THROW(
      static_cast<void>(train(some, whole, options_for(LearnerKind::kCosm, EngineKind::kLanes))));
}

}  // namespace
}  // namespace hqmm::detail
