// The Givens search: every batch's likelihood is kept or improved, and every turn is unitary.
#include "hqmm/learn/givens.hpp"

#include <gtest/gtest.h>

#include "support/learn.hpp"
#include "support/reference.hpp"

namespace hqmm::detail {
namespace {

using testing::quick;

TEST(GivensSearch, KeepsOrImprovesEveryBatchAndStaysFeasible) {
  const testing::SmallData data = testing::draw(synthetic_hqmm(), 1, 1, 60);
  const Chunks chunks = cut(data.train, {0, 5});
  RandomStream random(23, Purpose::kTest);
  const Hqmm start = testing::random_hqmm({2, 6, 1}, random);
  TrainOptions options = quick(LearnerKind::kGivens);
  options.kraus_rank = 1;
  GivensSearch search(start, chunks, 5, options, 0);
  // One chunk: every batch is the same, and the sequence of likelihoods never falls.
  double last = testing::total_log_likelihood(start, data.train, 5);
  const double first = last;
  for (std::size_t epoch = 0; epoch < 15; ++epoch) {
    const EpochOutcome outcome = search.run_epoch(epoch, testing::kNever);
    const double now = testing::total_log_likelihood(search.candidate(), data.train, 5);
    EXPECT_NEAR(outcome.log_likelihood, now, 1e-10);
    EXPECT_EQ(outcome.scored, 55U);
    EXPECT_GE(now, last - 1e-10) << "epoch " << epoch;
    testing::expect_feasible(search.candidate());
    last = now;
  }
  EXPECT_GT(last, first + 5.0);
}

TEST(GivensSearch, NothingToTurnChangesNothing) {
  const SequenceSet set(Alphabet::integers(1), {{0, 0, 0}});
  const Chunks chunks = cut(set, {0, 0});
  RandomStream random(23, Purpose::kTest, 1);
  const Hqmm start = testing::random_hqmm({1, 1, 1}, random);  // Γ has one row
  GivensSearch search(start, chunks, 0, quick(LearnerKind::kGivens), 0);
  search.run_epoch(0, testing::kNever);
  EXPECT_EQ(testing::bytes_of(search.candidate()), testing::bytes_of(start));
}

}  // namespace
}  // namespace hqmm::detail
