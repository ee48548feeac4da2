// Training on the GPU: as on the CPU to rounding, the same bytes again, and on from any checkpoint.
#include <gtest/gtest.h>

#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/score/score.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::SmallData;

SmallData gpu_data() { return testing::draw(synthetic_hmm(), 20, 6, 80); }

TrainOptions gpu_options(Index n, Index w, Field field, EmissionKind emission) {
  TrainOptions out;
  out.latent_dim = n;
  out.kraus_rank = w;
  out.field = field;
  out.emission = emission;
  out.epochs = 3;
  out.device = DeviceKind::kCuda;
  return out;
}

std::vector<TrainOptions> gpu_runs() {
  std::vector<TrainOptions> out = {
      gpu_options(2, 1, Field::kComplex, EmissionKind::kEdge),
      gpu_options(6, 2, Field::kComplex, EmissionKind::kEdge),
      gpu_options(20, 2, Field::kReal, EmissionKind::kState),
  };
  out[1].initial_state = InitialStateKind::kLearned;
  out[2].learner = LearnerKind::kCosm;
  return out;
}

TEST(GpuTraining, IsThatOfTheCpuToRounding) {
  const SmallData data = gpu_data();
  for (TrainOptions options : gpu_runs()) {
    const TrainResult gpu = train(data.train, data.validation, options);
    options.device = DeviceKind::kCpu;
    const TrainResult cpu = train(data.train, data.validation, options);
    EXPECT_EQ(gpu.best_epoch, cpu.best_epoch);
    const double found = score(gpu.model, data.validation).log_likelihood;
    const double expected = score(cpu.model, data.validation).log_likelihood;
    EXPECT_NEAR(found, expected, 1e-6 * std::abs(expected));
    testing::expect_feasible(gpu.model);
  }
}

TEST(GpuTraining, GoesOnFromACheckpointWithTheSameBytes) {
  const SmallData data = gpu_data();
  for (const TrainOptions& options : gpu_runs()) {
    std::vector<Checkpoint> checkpoints;
    TrainHooks hooks;
    hooks.on_checkpoint = [&](const Checkpoint& at) { checkpoints.push_back(at); };
    const TrainResult whole = train(data.train, data.validation, options, hooks);
    ASSERT_EQ(checkpoints.size(), 3U);
    const TrainResult later =
        train(data.train, data.validation, options, {}, {.checkpoint = &checkpoints.front()});
    EXPECT_EQ(bytes_of(later.model), bytes_of(whole.model));
    EXPECT_EQ(later.best_epoch, whole.best_epoch);
  }
}

/// `--memory`: states that do not fit are computed again.
TEST(GpuTraining, InLittleMemoryIsTheSameToRounding) {
  const SmallData data = gpu_data();
  for (TrainOptions options : gpu_runs()) {
    const TrainResult roomy = train(data.train, data.validation, options);
    options.memory = std::size_t{8} << 20;
    const TrainResult narrow = train(data.train, data.validation, options);
    const double expected = score(roomy.model, data.validation).log_likelihood;
    EXPECT_NEAR(score(narrow.model, data.validation).log_likelihood, expected,
                1e-6 * std::abs(expected));
    options.memory = 1 << 10;
    testing::expect_error(ErrorCode::kUsage, "of the GPU's memory",
                          [&] { static_cast<void>(train(data.train, data.validation, options)); });
  }
}

TEST(GpuTraining, RestartsHaveTheGpuOneAfterAnother) {
  const SmallData data = gpu_data();
  TrainOptions options = gpu_options(4, 2, Field::kComplex, EmissionKind::kEdge);
  options.restarts = 3;
  options.threads = 4;
  const TrainResult side_by_side = train(data.train, data.validation, options);
  options.threads = 1;
  EXPECT_EQ(bytes_of(train(data.train, data.validation, options).model),
            bytes_of(side_by_side.model));
}

TEST(GpuTraining, OfClassifiers) {
  const SequenceSet one = testing::draw(synthetic_hmm(), 12, 1, 30, 5).train;
  SequenceSet data(one.alphabet());
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (std::size_t t = 0; t < one[i].size(); ++t)
      data.push_back(i % 2 == 0 ? one[i][t] : one[i][0]);
    data.end_sequence_labelled(i % 2 == 0 ? "a" : "b");
  }
  ClassifierOptions options;
  options.train.latent_dim = 3;
  options.train.epochs = 2;
  options.train.device = DeviceKind::kCuda;
  const Classifier gpu = fit_classifier(data, options);
  options.train.device = DeviceKind::kCpu;
  const Classifier cpu = fit_classifier(data, options);
  for (std::size_t c = 0; c < 2; ++c) {
    const double expected = score(cpu.models[c], data).log_likelihood;
    EXPECT_NEAR(score(gpu.models[c], data).log_likelihood, expected, 1e-6 * std::abs(expected));
  }
}

}  // namespace
}  // namespace hqmm::detail
