// Training with the help of other ranks: the same models to the byte.
#include <gtest/gtest.h>

#include <vector>

#include "hqmm/data/chunks.hpp"
#include "hqmm/learn/train_planned.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/learn/training_ranks.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"
#include "support/thread_ranks.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::draw;
using testing::on_ranks;
using testing::quick;
using testing::SmallData;

AnyModel trained_on(int size, const SmallData& data, TrainOptions options) {
  options.threads = 1;
  const PlannedData planned{data.train, data.validation,
                            plan_data(data.train, data.validation, options)};
  const Chunks chunks = cut(data.train, {planned.plan.chunk_length, planned.plan.burn_in});
  const std::vector<TrainOptions> stages{options};
  AnyModel out;
  on_ranks(
      size,
      [&](Ranks& ranks) {
        TrainHooks hooks;
        if (size > 1) hooks.ranks = &ranks;
        out = train_planned(planned, options, hooks).model;
      },
      [&](Ranks& ranks) { ranks.help(training_tasks(ranks, planned, chunks, stages, 1)); });
  return out;
}

void expect_same_on_any_number(const TrainOptions& options) {
  const SmallData data = draw(synthetic_hmm(), 60, 6, 40);
  const std::string alone = bytes_of(trained_on(1, data, options));
  for (const int size : {2, 3, 5}) EXPECT_EQ(bytes_of(trained_on(size, data, options)), alone);
}

TEST(TrainingOnRanks, SharesGradients) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.latent_dim = 3;
  options.kraus_rank = 2;
  options.epochs = 2;
  options.batch_size = 48;
  expect_same_on_any_number(options);
}

TEST(TrainingOnRanks, SharesExpectationSteps) {
  TrainOptions options = quick(LearnerKind::kEm);
  options.epochs = 3;
  expect_same_on_any_number(options);
  options.emission = EmissionKind::kEdge;
  expect_same_on_any_number(options);
}

TEST(TrainingOnRanks, HandsOutRestarts) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.epochs = 3;
  options.restarts = 5;
  options.halving = true;
  expect_same_on_any_number(options);
}

}  // namespace
}  // namespace hqmm::detail
