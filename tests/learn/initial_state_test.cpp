// Training with initial states of every kind: fixed, learned, learned and pure.
#include <gtest/gtest.h>

#include "hqmm/learn/trainer.hpp"
#include "support/learn.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::draw;
using testing::expect_error;
using testing::expect_feasible;
using testing::quick;
using testing::SmallData;

/// Short sequences that always begin with symbol 0 and then forget it.
SmallData starting_with_zero() {
  SmallData data = draw(synthetic_hqmm(), 60, 30, 3);
  const auto begin_with_zero = [](const SequenceSet& set) {
    SequenceSet out(set.alphabet());
    for (std::size_t i = 0; i < set.size(); ++i) {
      out.push_back(0);
      for (const Symbol symbol : set[i].to_vector()) out.push_back(symbol);
      out.end_sequence();
    }
    return out;
  };
  return {begin_with_zero(data.train), begin_with_zero(data.validation)};
}

TEST(Trainer, ALearnedInitialStateIsADensityMatrixAndWorthIt) {
  const SmallData data = starting_with_zero();
  for (const LearnerKind learner : {LearnerKind::kNsRis, LearnerKind::kCosm}) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.epochs = 30;
    const AnyModel fixed = train(data.train, data.validation, options).model;
    options.initial_state = InitialStateKind::kLearned;
    const AnyModel learned = train(data.train, data.validation, options).model;
    expect_feasible(learned);
    const Matrix& rho = std::get<Hqmm>(learned).initial_state;
    EXPECT_NEAR(rho.trace().real(), 1.0, 1e-14);
    EXPECT_GE(testing::least_eigenvalue(rho), -1e-14);
    EXPECT_GT(testing::norm_distance(rho, maximally_mixed(2)), 0.1);
    EXPECT_GT(testing::total_log_likelihood(learned, data.validation),
              testing::total_log_likelihood(fixed, data.validation) + 5.0);
  }
}

TEST(Trainer, APureInitialStateStaysPureAndIsLearned) {
  const SmallData data = starting_with_zero();
  for (const LearnerKind learner : {LearnerKind::kNsRis, LearnerKind::kCosm}) {
    SCOPED_TRACE(name_of(learner));
    TrainOptions options = quick(learner);
    options.initial_state = InitialStateKind::kPure;
    options.epochs = 10;
    const AnyModel learned = train(data.train, data.validation, options).model;
    options.epochs = 0;
    const AnyModel start = train(data.train, data.validation, options).model;
    const Matrix& rho = std::get<Hqmm>(learned).initial_state;
    EXPECT_NEAR(rho.trace().real(), 1.0, 1e-14);
    EXPECT_NEAR(rho.squaredNorm(), 1.0, 1e-13) << "tr ρ² of a state of rank one";
    EXPECT_GT(testing::norm_distance(rho, std::get<Hqmm>(start).initial_state), 1e-3);
  }
}

TEST(Trainer, AFixedInitialStateStaysAsItIs) {
  const SmallData data = draw(synthetic_hmm(), 4, 2, 40);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.initial_state = InitialStateKind::kRandom;
  const Matrix after =
      std::get<Hqmm>(train(data.train, data.validation, options).model).initial_state;
  options.epochs = 0;
  const Matrix before =
      std::get<Hqmm>(train(data.train, data.validation, options).model).initial_state;
  EXPECT_TRUE(after == before);
}

TEST(Trainer, AnInitialStateCannotBeLearnedBehindABurnInTheGradientDoesNotPass) {
  const SmallData data = draw(synthetic_hmm(), 4, 2, 40);
  TrainOptions options = quick(LearnerKind::kNsRis);
  options.initial_state = InitialStateKind::kLearned;
  options.gradient_through_burn_in = false;
  options.burn_in = 5;
  expect_error(ErrorCode::kUsage, "cannot be learned if the gradient stops at a burn-in of 5",
               [&] { return train(data.train, data.validation, options); });
  options.burn_in = 0;
  EXPECT_NO_THROW(static_cast<void>(train(data.train, data.validation, options)));
}

}  // namespace
}  // namespace hqmm::detail
