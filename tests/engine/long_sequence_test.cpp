// One long sequence in blocks or from both ends, against the filters, which go symbol by symbol.
#include "hqmm/engine/long_sequence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/classical/long_hmm.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/quantum/long_hqmm.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::Shape;

SequenceSet one_long(std::size_t length, Index s, RandomStream& random, double missing) {
  return {Alphabet::integers(static_cast<std::size_t>(s)),
          {testing::random_symbols(length, s, random, missing)}};
}

std::optional<SequenceLikelihood> at_once(const Hqmm& model, const SequenceView& sequence,
                                          std::size_t burn_in, int threads) {
  return long_hqmm_log_likelihood(model, sequence, burn_in, threads);
}
std::optional<SequenceLikelihood> at_once(const auto& model, const SequenceView& sequence,
                                          std::size_t burn_in, int threads) {
  return long_hmm_log_likelihood(model, sequence, burn_in, threads);
}

void expect_near(const SequenceLikelihood& found, const SequenceLikelihood& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_EQ(found.impossible_at, expected.impossible_at);
  if (std::isinf(expected.log_likelihood)) {
    EXPECT_EQ(found.log_likelihood, expected.log_likelihood);
    return;
  }
  const double scale = 1e-11 * (1.0 + std::abs(expected.log_likelihood));
  EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, scale);
  EXPECT_NEAR(found.raw_log_likelihood, expected.raw_log_likelihood, scale);
}

SequenceLikelihood by_filter(const AnyModel& model, const SequenceSet& set, std::size_t burn_in) {
  return log_likelihoods(model, set, burn_in, 1).front();
}

/// Whatever becomes of the short way, this is what people get.
void expect_scored_right(const AnyModel& model, const SequenceSet& set, std::size_t burn_in) {
  expect_near(fast_log_likelihoods(model, set, burn_in, 2).front(), by_filter(model, set, burn_in));
}

template <typename Model>
void expect_taken_and_right(const Model& model, const SequenceSet& set, std::size_t burn_in) {
  const auto found = at_once(model, set[0], burn_in, 1);
  ASSERT_TRUE(found.has_value());
  expect_near(*found, by_filter(model, set, burn_in));
  const auto threaded = at_once(model, set[0], burn_in, 3);
  EXPECT_EQ(threaded->log_likelihood, found->log_likelihood);
  const auto public_way = fast_log_likelihoods(model, set, burn_in, 2).front();
  EXPECT_EQ(public_way.log_likelihood, found->log_likelihood);
}

TEST(LongSequence, AgreesWithTheFilterOnRandomShapes) {
  RandomStream random(21, Purpose::kTest, 901);
  const std::pair<Shape, std::size_t> cases[] = {
      {{1, 2, 1}, kLongSequence},
      {{2, 6, 1}, kLongSequence + 1},
      {{2, 6, 2}, kLongSequence + 77},
      {{3, 20, 1}, kLongSequence},
      {{3, 2, 2}, kLongSequence + 5},
      {{4, 5, 2}, kLongSequence},
      {{5, 7, 1}, kLongSequence + 3},
      {{6, 3, 3}, kLongSequence},
      {{8, 4, 1}, kLongSequence},
      {{2, 3, 1, Field::kReal, EmissionKind::kEdge}, kLongSequence + 11},
      {{3, 4, 2, Field::kReal, EmissionKind::kEdge}, kLongSequence},
      {{4, 4, 2, Field::kReal, EmissionKind::kState}, kLongSequence},
      {{2, 9, 1, Field::kComplex, EmissionKind::kState}, kLongSequence + 2}};
  for (const auto& [shape, length] : cases) {
    for (const double missing : {0.0, 0.1}) {
      SCOPED_TRACE(::testing::Message() << "n=" << shape.n << " s=" << shape.s << " w=" << shape.w
                                        << " missing=" << missing);
      const Hqmm model = testing::random_hqmm(shape, random);
      const SequenceSet set = one_long(length, shape.s, random, missing);
      expect_taken_and_right(model, set, missing > 0.0 ? 0 : random.below(40'000));
    }
  }
}

TEST(LongSequence, AgreesWithTheFiltersOfHiddenMarkovModels) {
  RandomStream random(22, Purpose::kTest, 902);
  for (const auto& [n, s] :
       {std::pair<Index, Index>{1, 3}, {2, 2}, {3, 20}, {5, 6}, {8, 4}, {13, 3}}) {
    for (const double missing : {0.0, 0.1}) {
      SCOPED_TRACE(::testing::Message() << "n=" << n << " s=" << s << " missing=" << missing);
      const auto alphabet = Alphabet::integers(static_cast<std::size_t>(s));
      const SequenceSet set = one_long(kLongSequence + random.below(9), s, random, missing);
      expect_taken_and_right(random_hmm(alphabet, n, random), set, 0);
      expect_taken_and_right(random_edge_hmm(alphabet, n, random), set, random.below(50'000));
    }
  }
}

TEST(LongSequence, BurnInMayEndAnywhere) {
  RandomStream random(23, Purpose::kTest, 903);
  const SequenceSet set = one_long(kLongSequence, 3, random, 0.0);
  const Hqmm by_blocks = testing::random_hqmm({2, 3, 2}, random);
  const Hqmm by_pair = testing::random_hqmm({3, 3, 2}, random);
  for (const std::size_t burn_in : {std::size_t{1}, kLongSequence / 2, kLongSequence - 1}) {
    expect_taken_and_right(by_blocks, set, burn_in);
    expect_taken_and_right(by_pair, set, burn_in);
  }
  for (const std::size_t burn_in : {kLongSequence, kLongSequence + 5})
    expect_scored_right(by_pair, set, burn_in);
}

/// Symbol 1 is seen in the second state only, which is reached with this amplitude by symbol 2.
Hqmm leaking(double leak, Index rank) {
  KrausSet set(3, rank, 2);
  set.op(0, 0) << std::sqrt(1.0 - leak * leak), 0.0, 0.0, 0.0;
  set.op(2, 0) << 0.0, 0.0, leak, 0.0;
  set.op(1, 0) << 0.0, 0.0, 0.0, 1.0;
  Matrix rho = Matrix::Zero(2, 2);
  rho(0, 0) = 1.0;
  return stationary_hqmm(Alphabet::integers(3), std::move(set), rho);
}

TEST(LongSequence, ImpossibleAndNextToImpossibleSymbolsAreWhatTheFilterSays) {
  std::vector<Symbol> symbols(kLongSequence, 0);
  symbols[kLongSequence / 3] = 2;
  for (std::size_t t = kLongSequence / 3 + 1; t < symbols.size(); ++t) symbols[t] = 1;
  std::vector<Symbol> never = symbols;
  never[kLongSequence / 3] = 1;
  const auto alphabet = Alphabet::integers(3);
  for (const Index rank : {1, 2}) {
    for (const double leak : {0.5, 1e-4, 1e-12, 1e-150}) {
      SCOPED_TRACE(leak);
      expect_scored_right(leaking(leak, rank), SequenceSet(alphabet, {symbols}), 0);
      expect_scored_right(leaking(leak, rank), SequenceSet(alphabet, {never}), 0);
    }
  }
}

TEST(LongSequence, TinyProbabilitiesStayInRange) {
  RandomStream random(24, Purpose::kTest, 904);
  const Index n = 3;
  Hmm model = random_hmm(Alphabet::integers(3), n, random);
  model.emission.row(2).setConstant(1e-300);
  model.emission.row(1).setConstant(0.25);
  model.emission.row(0).setConstant(0.75);
  const SequenceSet set = one_long(kLongSequence, 3, random, 0.0);
  expect_taken_and_right(model, set, 10);
  // and where only one state can go on
  model.emission.row(2) << 1e-300, 0.0, 1e-150;
  expect_scored_right(model, set, 10);
}

TEST(LongSequence, LeftToRightModelsAreRight) {
  RandomStream random(25, Purpose::kTest, 905);
  Hmm model = random_hmm(Alphabet::integers(2), 3, random);
  model.transition << 1.0 - 1e-4, 0.0, 0.0, 1e-4, 1.0 - 1e-5, 0.0, 0.0, 1e-5, 1.0;
  model.initial << 1.0, 0.0, 0.0;
  expect_taken_and_right(model, one_long(kLongSequence, 2, random, 0.0), 0);
}

TEST(LongSequence, ModelsThatAreNotTracePreservingAreWalked) {
  RandomStream random(26, Purpose::kTest, 906);
  Hqmm model = testing::random_hqmm({2, 3, 1}, random);
  testing::make_infeasible(model, random);
  expect_scored_right(model, one_long(kLongSequence, 3, random, 0.0), 7);
}

TEST(LongSequence, SymbolsThatTheModelDoesNotHaveAreRefused) {
  RandomStream random(27, Purpose::kTest, 907);
  const Hmm model = random_hmm(Alphabet::integers(3), 2, random);
  std::vector<Symbol> symbols = testing::random_symbols(kLongSequence, 3, random, 0.0);
  symbols[70'000] = 3;
  const SequenceSet set(Alphabet::integers(4), {symbols});
  EXPECT_FALSE(long_hmm_log_likelihood(model, set[0], 0, 1).has_value());
}

TEST(LongSequence, OthersOfTheSetAreAsTheyAreAlone) {
  RandomStream random(28, Purpose::kTest, 908);
  const SequenceSet set(Alphabet::integers(4),
                        {testing::random_symbols(30, 4, random, 0.1),
                         testing::random_symbols(kLongSequence, 4, random, 0.0),
                         {},
                         testing::random_symbols(99, 4, random, 0.0)});
  const AnyModel models[] = {testing::random_hqmm({3, 4, 2}, random),
                             random_hmm(Alphabet::integers(4), 3, random),
                             random_edge_hmm(Alphabet::integers(4), 3, random)};
  for (const AnyModel& model : models) {
    const auto expected = log_likelihoods(model, set, 5, 1);
    const auto found = fast_log_likelihoods(model, set, 5, 2);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i]);
  }
}

TEST(LongSequence, ThePlanFollowsFromShapes) {
  LongShape shape{.rows = 4, .block_cols = 2, .squared = true, .symbols = 6};
  shape.length = kLongSequence - 1;
  EXPECT_EQ(plan_long(shape).way, LongWay::kNone);
  shape.length = kLongSequence;
  const LongPlan shortest = plan_long(shape);
  EXPECT_EQ(shortest.way, LongWay::kBlocks);
  shape.length = 10'000'000;
  EXPECT_GT(plan_long(shape).word_length, 3);
  EXPECT_GE(plan_long(shape).word_length, shortest.word_length);
  shape.symbols = 200;  // 200² words are made, 200³ are not
  EXPECT_LE(plan_long(shape).word_length, 2);
  // matrices of many rows: from both ends
  shape = {.rows = 64, .block_cols = 64, .symbols = 6, .length = 10'000'000};
  EXPECT_EQ(plan_long(shape).way, LongWay::kPair);
  EXPECT_LE(plan_long(shape).word_length, 3);
  shape.symbols = 60'000;
  EXPECT_EQ(plan_long(shape).way, LongWay::kNone);
  shape.symbols = 1;
  EXPECT_EQ(plan_long(shape).word_length, 1);
}

}  // namespace
}  // namespace hqmm::detail
