// The tiled E step where the range of doubles ends: tiny probabilities, zeros, states all but lost.
#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/classical/forward_backward.hpp"
#include "support/expectation_twin.hpp"
#include "support/reference.hpp"

namespace hqmm::detail {
namespace {

using testing::counts_of;
using testing::expect_close;
using testing::expect_same_counts;
using testing::expect_twin_counts;
using testing::make_hmm;
using testing::random_set;
using testing::twin_counts;

constexpr std::uint64_t kForwardBackwardRangeSeed = 91;

TEST(ForwardBackward, SymbolsOfTinyProbabilityMatchTheTwin) {
  for (const double tiny : {1e-12, 1e-40, 1e-150, 1e-300}) {
    SCOPED_TRACE(tiny);
    RandomStream random(kForwardBackwardRangeSeed, Purpose::kTest, 600);
    Hmm model = testing::random_started_hmm(5, 4, random);
    for (Index i = 0; i < 5; ++i) {
      model.emission(0, i) = tiny * (1.0 + static_cast<double>(i));
      model.emission(1, i) = 1.0 - model.emission.col(i).tail(2).sum() - model.emission(0, i);
    }
    const SequenceSet set =
        random_set(model, {400, 33, 32, 1, 90, 90, 7, 64, 65, 100}, random, 0.1);
    expect_twin_counts(model, set);
    const SequenceSet only_tiny(model.alphabet, {std::vector<Symbol>(100, 0), {0}, {0, 0, 1}});
    expect_twin_counts(model, only_tiny);
  }
}

// State 1 cannot be, though it would explain the data better by any factor: β of it has no bound.
TEST(ForwardBackward, AnUnreachableStateCountsForNothing) {
  const RealMatrix together = RealMatrix::Identity(2, 2);
  for (const double tiny : {1e-3, 1e-30, 1e-300}) {
    SCOPED_TRACE(tiny);
    const Hmm model =
        make_hmm(together, RealMatrix{{tiny, 1.0}, {1.0 - tiny, 0.0}}, RealVector{{1.0, 0.0}});
    const SequenceSet set(model.alphabet, {std::vector<Symbol>(2000, 0), {0, 1, 0}});
    const ExpectedCounts found = counts_of(model, set);
    EXPECT_NEAR(found.log_likelihood, 2002 * std::log(tiny) + std::log1p(-tiny),
                1e-12 * std::abs(found.log_likelihood));
    expect_close(found.transitions, RealMatrix{{2003.0, 0.0}, {0.0, 0.0}}, "transitions", 1e-12);
    expect_close(found.emissions, RealMatrix{{2002.0, 0.0}, {1.0, 0.0}}, "emissions", 1e-12);
    expect_close(found.initial, RealVector{{2.0, 0.0}}, "initial", 1e-12);
  }
}

// Two coins, one of which was taken at the start. Evidence for the first is 2^-1100 ahead and is
// then outweighed: further than numbers around one reach.
TEST(ForwardBackward, AStateThatWasAllButExcludedCanComeBack) {
  const Hmm coins =
      make_hmm(RealMatrix::Identity(2, 2), RealMatrix{{0.5, 0.25}, {0.25, 0.5}, {0.25, 0.25}},
               RealVector{{0.5, 0.5}});
  std::vector<Symbol> symbols(1100, 0);
  symbols.resize(2210, 1);
  const ExpectedCounts found = counts_of(coins, SequenceSet(coins.alphabet, {symbols}));
  const double posterior = 1.0 / (1.0 + std::exp2(-10.0));
  EXPECT_NEAR(found.initial(1), posterior, 1e-11);
  EXPECT_NEAR(found.emissions(1, 1), 1110 * posterior, 1e-8);
  EXPECT_NEAR(found.log_likelihood,
              (-1.0 - 2 * 1100 - 1110) * std::log(2.0) + std::log1p(std::exp2(-10.0)), 1e-9);
}

// And further than any number reaches. Whatever is then made of it is made of all of it: the coin
// never changes, so its posterior is the same at every symbol.
TEST(ForwardBackward, AStateThatIsLostForGoodIsLostConsistently) {
  const Hmm coins =
      make_hmm(RealMatrix::Identity(2, 2), RealMatrix{{0.5, 0.25}, {0.25, 0.5}, {0.25, 0.25}},
               RealVector{{0.5, 0.5}});
  for (const std::size_t zeros : {1400, 1420, 1430, 1440, 1460, 1480, 1600, 3000}) {
    SCOPED_TRACE(zeros);
    const std::size_t ones = zeros + 20;
    std::vector<Symbol> symbols(zeros, 0);
    symbols.resize(zeros + ones, 1);
    const ExpectedCounts found =
        counts_of(coins, SequenceSet(coins.alphabet, {{2}, symbols, {2, 2}}));
    const double posterior = found.initial(0) - 1.0;  // the others say nothing of the coin
    EXPECT_NEAR(found.initial.sum(), 3.0, 1e-12);
    EXPECT_NEAR(found.emissions(0, 0), static_cast<double>(zeros) * posterior, 1e-8);
    EXPECT_NEAR(found.emissions(1, 0), static_cast<double>(ones) * posterior, 1e-8);
    EXPECT_NEAR(found.transitions(0, 0), static_cast<double>(zeros + ones) * posterior + 1.5, 1e-8);
    EXPECT_NEAR(found.transitions.sum(), static_cast<double>(zeros + ones + 3), 1e-8);
  }
}

void expect_impossible(const Hmm& model, const SequenceSet& set, std::size_t sequence,
                       std::size_t position) {
  for (const int threads : {1, 2}) {
    const ExpectedCounts found = counts_of(model, set, threads);
    ASSERT_TRUE(found.impossible);
    EXPECT_EQ(found.impossible->sequence, sequence);
    EXPECT_EQ(found.impossible->position, position);
  }
}

TEST(ForwardBackward, NamesTheFirstSequenceWithASymbolOfProbabilityZero) {
  // 0 and 1 alternate; 2 is never seen
  const Hmm model =
      make_hmm(RealMatrix{{0.0, 1.0}, {1.0, 0.0}}, RealMatrix{{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0}},
               RealVector{{0.5, 0.5}});
  std::vector<Symbol> fine(5000);
  for (std::size_t t = 0; t < fine.size(); ++t) fine[t] = static_cast<Symbol>(t % 2);
  for (const std::size_t position : {0, 1, 30, 31, 32, 33, 63, 64, 100, 4998, 4999}) {
    SCOPED_TRACE(position);
    std::vector<Symbol> wrong = fine;
    wrong[position] = 2;
    expect_impossible(model, SequenceSet(model.alphabet, {{1, 0}, fine, wrong, {2}, {}}), 2,
                      position);
  }
  expect_impossible(model, SequenceSet(model.alphabet, {{0, 1, 0, kMissing, 1}, fine}), 0, 4);

  const SequenceSet with(model.alphabet, {{0, 1, 0, 1}, {0, 0}, fine, {1, kMissing, 1, 0}});
  ExpectedCounts others = counts_of(model, with);
  others.impossible.reset();
  const SequenceSet without(model.alphabet, {{0, 1, 0, 1}, fine, {1, kMissing, 1, 0}});
  expect_same_counts(others, twin_counts(model, without));
}

TEST(CarefulCounts, MatchTheTwin) {
  for (std::uint64_t index = 800; index < 810; ++index) {
    RandomStream random(kForwardBackwardRangeSeed, Purpose::kTest, index);
    const Hmm model =
        testing::random_started_hmm(static_cast<Index>(1 + random.below(9)), 4, random);
    const SequenceSet set = random_set(model, {0, 1, 50, 9000}, random, 0.1);
    ExpectedCounts found(model);
    for (std::size_t i = 0; i < set.size(); ++i) EXPECT_FALSE(careful_counts(model, set[i], found));
    expect_same_counts(found, twin_counts(model, set));
  }
}

}  // namespace
}  // namespace hqmm::detail
