// Warm starts: the result is never worse on validation than what training started from.
#include <gtest/gtest.h>

#include "hqmm/learn/start.hpp"
#include "hqmm/model/embedding.hpp"
#include "support/learn.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::expect_error;
using testing::quick;
using testing::SmallData;
using testing::total_log_likelihood;

constexpr LearnerKind kHqmmLearners[] = {LearnerKind::kNsRis, LearnerKind::kCosm,
                                         LearnerKind::kGivens};

SmallData warm_start_data() { return testing::draw(synthetic_hmm(), 12, 6, 80); }

/// An HMM of `states` states that EM has fitted well to the data.
Hmm fitted_hmm(const SmallData& data, Index states) {
  TrainOptions options = quick(LearnerKind::kEm);
  options.latent_dim = states;
  options.epochs = 60;
  return std::get<Hmm>(train(data.train, data.validation, options).model);
}

TEST(WarmStart, FromAnHmmIsNeverWorseThanItsExactEmbedding) {
  const SmallData data = warm_start_data();
  const Hmm hmm = fitted_hmm(data, 3);
  const double embedded = total_log_likelihood(embed_rank_one(hmm), data.validation);
  for (const LearnerKind learner : kHqmmLearners) {
    for (const double step_size : {0.2, 1e6}) {
      SCOPED_TRACE(std::string(name_of(learner)) + " η=" + std::to_string(step_size));
      TrainOptions options = quick(learner);
      options.latent_dim = options.kraus_rank = 3;
      options.step_size = step_size;
      const TrainResult result =
          train(data.train, data.validation, options, {}, {.model = AnyModel(hmm)});
      EXPECT_GE(total_log_likelihood(result.model, data.validation),
                embedded - 1e-12 * std::abs(embedded));
      testing::expect_feasible(result.model);
    }
  }
}

TEST(WarmStart, WithoutAnEpochIsTheExactEmbeddingItself) {
  const SmallData data = warm_start_data();
  const Hmm hmm = fitted_hmm(data, 2);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.epochs = 0;
  const TrainResult result =
      train(data.train, data.validation, options, {}, {.model = AnyModel(hmm)});
  EXPECT_EQ(bytes_of(result.model), bytes_of(embed_rank_one(hmm)));
}

TEST(WarmStart, FromAnHmmLeavesTheRealSubspace) {
  RandomStream random(5, Purpose::kTest);
  const Hmm hmm = testing::random_started_hmm(2, 6, random);
  const TrainOptions options = quick(LearnerKind::kNsRis);
  const Start start = warm_start(hmm, options, hmm.alphabet, 0);
  const auto& model = std::get<Hqmm>(start.model);
  testing::expect_feasible(model);
  EXPECT_GT(model.sets[0].gamma().imag().norm(), 0.1);
  EXPECT_NE(bytes_of(model), bytes_of(warm_start(hmm, options, hmm.alphabet, 1).model))
      << "every restart has noise of its own";
}

TEST(WarmStart, FromAnHqmmIsNeverWorseThanItself) {
  const SmallData data = warm_start_data();
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.epochs = 20;
  const AnyModel good = train(data.train, data.validation, options).model;
  const double before = total_log_likelihood(good, data.validation);
  for (const LearnerKind learner : kHqmmLearners) {
    for (const double step_size : {0.0, 0.2, 1e6}) {
      SCOPED_TRACE(std::string(name_of(learner)) + " η=" + std::to_string(step_size));
      options = quick(learner);
      options.step_size = step_size;
      const TrainResult result = train(data.train, data.validation, options, {}, {.model = good});
      EXPECT_GE(total_log_likelihood(result.model, data.validation), before);
    }
  }
}

TEST(WarmStart, EmGoesOnFromAnHmm) {
  const SmallData data = warm_start_data();
  const Hmm hmm = fitted_hmm(data, 2);
  TrainOptions options = quick(LearnerKind::kEm);
  const TrainResult result =
      train(data.train, data.validation, options, {}, {.model = AnyModel(hmm)});
  EXPECT_GE(total_log_likelihood(result.model, data.validation),
            total_log_likelihood(hmm, data.validation));
}

TEST(WarmStart, APositionalModelKeepsItsMap) {
  const SmallData data = warm_start_data();
  RandomStream random(5, Purpose::kTest, 1);
  const Hqmm start =
      testing::random_positional_hqmm({2, 6, 2}, PositionMap::Anchor::kStart, random);
  for (const LearnerKind learner : kHqmmLearners) {
    SCOPED_TRACE(name_of(learner));
    const TrainResult result =
        train(data.train, data.validation, quick(learner), {}, {.model = AnyModel(start)});
    const auto& model = std::get<Hqmm>(result.model);
    EXPECT_EQ(model.positions, start.positions);
    EXPECT_EQ(model.sets.size(), start.sets.size());
    testing::expect_feasible(model);
    EXPECT_GT(total_log_likelihood(model, data.validation),
              total_log_likelihood(start, data.validation));
  }
}

TEST(WarmStart, SizesThatDoNotFitAreRefused) {
  RandomStream random(5, Purpose::kTest, 2);
  const Hmm hmm = testing::random_started_hmm(3, 6, random);
  const Hqmm hqmm = testing::random_hqmm({3, 6, 2}, random);
  const auto refused = [](const char* text, const AnyModel& from, const TrainOptions& options,
                          std::size_t s) {
    expect_error(ErrorCode::kUsage, text,
                 [&] { return warm_start(from, options, Alphabet::integers(s), 0); });
  };
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.latent_dim = 3;
  options.kraus_rank = 2;
  refused("needs kraus_rank 3, not 2", hmm, options, 6);
  refused("alphabet", hqmm, options, 5);
  options.latent_dim = 4;
  refused("has n = 3, the run n = 4", hqmm, options, 6);
  options.latent_dim = 3;
  options.kraus_rank = 1;
  refused("has w = 2, the run w = 1", hqmm, options, 6);
  options.kraus_rank = 2;
  options.initial_state = InitialStateKind::kPure;
  refused("is mixed", hqmm, options, 6);
  options = quick(LearnerKind::kEm);
  options.latent_dim = 3;
  refused("the warm start is an HQMM", hqmm, options, 6);
}

}  // namespace
}  // namespace hqmm::detail
