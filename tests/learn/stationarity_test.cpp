// The theorem's terms on small runs: finite, consistent, and honest about the assumptions.
#include "hqmm/learn/stationarity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/learn.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::expect_error;
using testing::quick;
using testing::SmallData;

constexpr std::size_t kSequences = 18;

SmallData stationarity_data() { return testing::draw(synthetic_hqmm(), kSequences, 4, 40); }

TrainOptions measured_options(RetractionKind retraction, Index latent_dim) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.schedule = ScheduleKind::kConstant;
  options.retraction = retraction;
  options.latent_dim = latent_dim;
  options.step_size = 0.05;
  options.average = 0.0;
  return options;
}

StationarityReport measure(const TrainOptions& options, const SmallData& data) {
  StationarityProbe probe(data.train, plan_data(data.train, data.validation, options), options,
                          maximally_mixed(options.latent_dim));
  TrainHooks hooks;
  hooks.on_step = probe.watcher();
  static_cast<void>(train(data.train, data.validation, options, hooks));
  return probe.report();
}

void expect_finite_terms(const StationarityReport& report) {
  for (const double term :
       {report.descent_term(), report.smoothness_term(), report.retraction_term(),
        report.tracking_term(), report.epsilon, report.rho_mean, report.rho_mean_square,
        report.sigma, report.gradient_bound, report.lipschitz, report.descent,
        report.momentum_mismatch, report.measured}) {
    EXPECT_TRUE(std::isfinite(term));
    EXPECT_GE(term, 0.0);
  }
}

TEST(Stationarity, StructuredModelsMeetTheBoundToo) {
  for (const Field field : {Field::kComplex, Field::kReal}) {
    TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
    options.field = field;
    options.emission = EmissionKind::kState;
    options.emission_step = options.step_size;
    const StationarityReport report = measure(options, stationarity_data());
    expect_finite_terms(report);
    EXPECT_EQ(report.steps, options.epochs * 5) << "V and C move in one step";
    EXPECT_EQ(report.latent_dim, 4.0);
    EXPECT_LE(report.largest_residual, 1e-12);
    EXPECT_LE(report.measured, report.bound());
    options.emission_step = 0.01;
    expect_error(ErrorCode::kUsage, "a single step size",
                 [&] { static_cast<void>(measure(options, stationarity_data())); });
  }
}

TEST(Stationarity, AFeasibleRunMeetsTheBoundAndItsAssumptions) {
  const TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
  const StationarityReport report = measure(options, stationarity_data());
  expect_finite_terms(report);
  EXPECT_EQ(report.steps, options.epochs * 5) << "18 sequences in batches of 4";
  EXPECT_EQ(report.samples, report.steps) << "a short run is sampled at every step";
  EXPECT_LT(report.epsilon, 1.0);
  EXPECT_TRUE(report.direction_accurate());
  EXPECT_GE(report.bound(), report.measured);
  EXPECT_GT(report.measured, 0.0);
  EXPECT_LE(report.measured, report.gradient_bound);
  EXPECT_TRUE(report.on_manifold());
  EXPECT_LE(report.largest_residual, 1e-12);
  EXPECT_GT(report.descent, 0.0);
  EXPECT_GE(report.rho_mean_square, report.rho_mean * report.rho_mean);
  EXPECT_DOUBLE_EQ(report.bound(), report.descent_term() + report.smoothness_term() +
                                       report.retraction_term() + report.tracking_term());
}

TEST(Stationarity, ALiteralRunIsNotOnTheManifold) {
  const StationarityReport report =
      measure(measured_options(RetractionKind::kLiteral, 4), stationarity_data());
  EXPECT_FALSE(report.on_manifold());
  EXPECT_GT(report.largest_residual, 0.01);
  EXPECT_GT(report.rho_mean, 0.01) << "the retraction moves far";
}

// σ, the left side and the mismatch of a single step, from the gradients of each sequence.
TEST(Stationarity, OneStepIsWhatItsGradientsSay) {
  const SmallData data = stationarity_data();
  TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
  options.epochs = 1;
  options.batch_size = kSequences;
  const StationarityReport report = measure(options, data);
  ASSERT_EQ(report.steps, 1U);

  options.epochs = 0;
  const auto start = std::get<Hqmm>(train(data.train, data.validation, options).model);
  const Stack& gamma = start.sets[0].gamma();
  std::vector<Stack> each;
  Stack mean = Stack::Zero(gamma.rows(), gamma.cols());
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const SequenceView one = data.train[i];
    each.push_back(project_tangent(gamma, gradient(start, {&one, 1}, {}, 1).sets[0]));
    mean += each.back() / static_cast<double>(kSequences);
  }
  double variance = 0.0;
  for (const Stack& g : each)
    variance += (g - mean).squaredNorm() / static_cast<double>(kSequences);
  EXPECT_NEAR(report.measured, nuclear_norm(mean), 1e-10);
  EXPECT_NEAR(report.sigma, std::sqrt(variance), 1e-9);
  // M₁ = (1−β) grad F when the batch is everything.
  EXPECT_NEAR(report.momentum_mismatch, 0.9 * nuclear_norm(mean), 1e-10);
  EXPECT_EQ(report.batch_size, static_cast<double>(kSequences));
}

TEST(Stationarity, ALongRunIsSampled) {
  TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
  options.batch_size = 1;
  options.epochs = 10;
  const StationarityReport report = measure(options, stationarity_data());
  EXPECT_EQ(report.steps, 10 * kSequences);
  EXPECT_GE(report.samples, 64U);
  EXPECT_LT(report.samples, report.steps);
}

TEST(Stationarity, NoStepMeasuresNothing) {
  TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
  options.epochs = 0;
  const StationarityReport report = measure(options, stationarity_data());
  EXPECT_EQ(report.steps, 0U);
  EXPECT_EQ(report.descent, 0.0);
  EXPECT_EQ(report.measured, 0.0);
}

TEST(Stationarity, RunsTheTheoremDoesNotSpeakOfAreRefused) {
  const SmallData data = stationarity_data();
  const auto refused = [&](const char* text, const std::function<void(TrainOptions&)>& change) {
    TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
    change(options);
    expect_error(ErrorCode::kUsage, text, [&] {
      StationarityProbe(data.train, plan_data(data.train, data.validation, options), options,
                        maximally_mixed(2));
    });
  };
  refused("constant step size", [](TrainOptions& o) { o.schedule = ScheduleKind::kCosine; });
  refused("restarts 1", [](TrainOptions& o) { o.restarts = 2; });
  refused("step_size above 0", [](TrainOptions& o) { o.step_size = 0.0; });
  refused("fixed initial_state",
          [](TrainOptions& o) { o.initial_state = InitialStateKind::kLearned; });
  refused("fixed initial_state",
          [](TrainOptions& o) { o.initial_state = InitialStateKind::kPure; });
  for (const LearnerKind learner : {LearnerKind::kCosm, LearnerKind::kGivens, LearnerKind::kEm})
    refused("applies to ns-ris", [learner](TrainOptions& o) { o.learner = learner; });
}

TEST(Stationarity, ManyKrausSetsAreRefused) {
  const SmallData data = stationarity_data();
  const TrainOptions options = measured_options(RetractionKind::kFeasible, 2);
  RandomStream random(1, Purpose::kTest);
  const Hqmm start =
      testing::random_positional_hqmm({2, 6, 2}, PositionMap::Anchor::kStart, random);
  StationarityProbe probe(data.train, plan_data(data.train, data.validation, options), options,
                          start.initial_state);
  TrainHooks hooks;
  hooks.on_step = probe.watcher();
  expect_error(ErrorCode::kUsage, "one Kraus set", [&] {
    return train(data.train, data.validation, options, hooks, {.model = AnyModel(start)});
  });
}

}  // namespace
}  // namespace hqmm::detail
