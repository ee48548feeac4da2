// The epoch loop of NS-RIS and COSM from inside: what is averaged, what is scored, what is kept.
#include "hqmm/learn/descent.hpp"

#include <gtest/gtest.h>

#include "hqmm/learn/rules.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "support/learn.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail {
namespace {

using testing::quick;

constexpr std::size_t kSequences = 10;

/// Three epochs of a learner, and Γ after each of its steps.
struct ThreeEpochs {
  explicit ThreeEpochs(const TrainOptions& options)
      : data(testing::draw(synthetic_hmm(), kSequences, 1, 30)), chunks(cut(data.train, {0, 0})) {
    RandomStream random(13, Purpose::kTest);
    start = testing::random_hqmm({2, 6, 2}, random);
    auto rule = make_ns_ris(options);
    rule->watch([this](const StepDetail& step) { steps.push_back(*step.after); });
    learner = std::make_unique<DescentLearner>(start, chunks, 0, options, 0, std::move(rule));
    for (std::size_t epoch = 0; epoch < 3; ++epoch)
      outcome = learner->run_epoch(epoch, testing::kNever);
  }

  testing::SmallData data;
  Chunks chunks;
  Hqmm start;
  std::vector<Stack> steps;
  std::unique_ptr<DescentLearner> learner;
  EpochOutcome outcome;  // of the last epoch
};

const Stack& gamma_of(const AnyModel& model) { return std::get<Hqmm>(model).sets[0].gamma(); }

TEST(Descent, AnEpochTakesEverySequenceOnce) {
  const ThreeEpochs run(quick(LearnerKind::kNsRis));
  EXPECT_EQ(run.steps.size(), 9U) << "three epochs of 10 sequences in batches of 4";
  EXPECT_EQ(run.outcome.scored, kSequences * 30);
}

TEST(Descent, ScoresTheRunningMeanProjectedBack) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  for (const double average : {0.3, 0.98}) {
    options.average = average;
    const ThreeEpochs run(options);
    Stack mean = run.start.sets[0].gamma();
    for (std::size_t k = 0; k < run.steps.size(); ++k) {
      const auto updates = static_cast<double>(k);
      const double past = std::min(average, (updates + 1.0) / (updates + 10.0));
      mean = past * mean + (1.0 - past) * run.steps[k];
    }
    EXPECT_LT(testing::norm_distance(gamma_of(run.learner->candidate()), retract(mean).gamma),
              1e-12);
    EXPECT_TRUE(gamma_of(run.learner->current()) == run.steps.back());
  }
}

TEST(Descent, WithoutAveragingScoresTheLastStep) {
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.average = 0.0;
  const ThreeEpochs plain(options);
  EXPECT_TRUE(gamma_of(plain.learner->candidate()) == plain.steps.back());
  options.average = 0.98;
  options.retraction = RetractionKind::kLiteral;
  const ThreeEpochs literal(options);
  EXPECT_TRUE(gamma_of(literal.learner->candidate()) == literal.steps.back())
      << "projecting a mean back would repair what the literal retraction breaks";
}

TEST(Descent, FewUpdatesAreNotHeldBackByTheRandomStart) {
  const testing::SmallData data = testing::draw(synthetic_hqmm(), 1, 10, 500);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.kraus_rank = 1;
  options.epochs = 40;  // one update each
  const AnyModel averaged = train(data.train, data.validation, options).model;
  options.average = 0.0;
  const AnyModel last = train(data.train, data.validation, options).model;
  EXPECT_GT(testing::mean_da(averaged, data.validation),
            testing::mean_da(last, data.validation) - 0.005);
}

TEST(Descent, AStoppedEpochSaysSo) {
  ThreeEpochs run(quick(LearnerKind::kNsRis));
  int asked = 0;
  const EpochOutcome outcome = run.learner->run_epoch(3, [&] { return ++asked > 2; });
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(run.steps.size(), 11U) << "two batches, then the request";
}

}  // namespace
}  // namespace hqmm::detail
