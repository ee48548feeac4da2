// Pieces of a long sequence walked side by side: taken where a model forgets, and left alone where
// it does not.
#include "hqmm/engine/long_pieces.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/classical/long_hmm.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/piece_states.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kLength = std::size_t{1} << 17;

SequenceSet set_of(std::vector<Symbol> symbols, std::size_t s) {
  return {Alphabet::integers(s), {std::move(symbols)}};
}

std::optional<double> by_pieces(const Hmm& model, const SequenceView& sequence, std::size_t burn_in,
                                int threads) {
  const LinearModel linear = linear_model(model, sequence.has_missing());
  const PiecePlan plan = plan_pieces(linear.rows, linear.symbols, sequence.size());
  const WordTable table(linear, plan.word_length, false, 1);
  return score_by_pieces(table, sequence, burn_in, plan, threads);
}

void expect_right(const AnyModel& model, const SequenceSet& set) {
  const double expected = log_likelihoods(model, set, 0, 1).front().log_likelihood;
  const double found = fast_log_likelihoods(model, set, 0, 2).front().log_likelihood;
  EXPECT_NEAR(found, expected, 1e-11 * (1.0 + std::abs(expected)));
}

TEST(LongPieces, AreTakenForModelsThatForgetAndDoNotDependOnThreads) {
  RandomStream random(31, Purpose::kTest, 911);
  for (const Index n : {9, 16, 30}) {  // one by one, and sorted
    const Hmm model = random_hmm(Alphabet::integers(5), n, random);
    const SequenceSet set = set_of(testing::random_symbols(kLength + 7, 5, random, 0.05), 5);
    for (const std::size_t burn_in : {0, 99, 40'000, 131'000}) {
      const auto found = by_pieces(model, set[0], burn_in, 1);
      ASSERT_TRUE(found.has_value());
      const double expected = log_likelihoods(model, set, burn_in, 1).front().log_likelihood;
      EXPECT_NEAR(*found, expected, 1e-11 * (1.0 + std::abs(expected)));
      EXPECT_EQ(*found, *by_pieces(model, set[0], burn_in, 3));
    }
  }
}

/// Every state has one successor; what is seen tells little of where one is.
TEST(LongPieces, AreNotTakenForAPermutation) {
  RandomStream random(32, Purpose::kTest, 912);
  Hmm model = random_hmm(Alphabet::integers(3), 10, random);
  model.transition.setZero();
  for (Index i = 0; i < 10; ++i) model.transition((i + 1) % 10, i) = 1.0;
  model.emission.setConstant(1.0 / 3.0);
  model.emission.row(0).head(5).setConstant(1.0 / 3.0 + 1e-6);
  model.emission.row(1).head(5).setConstant(1.0 / 3.0 - 1e-6);
  for (const double first : {0.1, 1.0}) {
    model.initial.setConstant((1.0 - first) / 9.0);
    model.initial(0) = first;
    const SequenceSet set = set_of(testing::random_symbols(kLength, 3, random, 0.0), 3);
    EXPECT_FALSE(by_pieces(model, set[0], 0, 1).has_value());
    expect_right(model, set);
  }
}

/// Two parts that never meet, each of which forgets: the weight of one is next to nothing, and
/// later all there is.
TEST(LongPieces, AreNotTakenForPartsThatNeverMeet) {
  RandomStream random(33, Purpose::kTest, 913);
  const Index half = 6;
  Hmm model = random_hmm(Alphabet::integers(2), 2 * half, random);
  model.transition.topRightCorner(half, half).setZero();
  model.transition.bottomLeftCorner(half, half).setZero();
  model.transition.array().rowwise() /= model.transition.colwise().sum().array();
  for (Index i = 0; i < 2 * half; ++i) {
    model.emission(0, i) = (i < half ? 0.7 : 0.3) + 0.01 * static_cast<double>(i % half);
    model.emission(1, i) = 1.0 - model.emission(0, i);
  }
  std::vector<Symbol> symbols;
  for (std::size_t t = 0; t < kLength; ++t)
    symbols.push_back(random.below(10) < 9 ? t / 500 % 2 : 1 - t / 500 % 2);
  const SequenceSet set = set_of(std::move(symbols), 2);
  EXPECT_FALSE(by_pieces(model, set[0], 0, 1).has_value());
  expect_right(model, set);
}

/// A few pieces that remember are walked again.
TEST(LongPieces, ThatDoNotBeginWhereTheOneBeforeEndedAreWalkedAgain) {
  RandomStream random(34, Purpose::kTest, 914);
  // symbol 2 leaves the states as they are
  EdgeHmm model = random_edge_hmm(Alphabet::integers(3), 12, random);
  for (std::size_t y = 0; y < 2; ++y) model.edges[y] += 0.5 * model.edges[2];
  model.edges[2] = RealMatrix::Identity(12, 12);
  const RealVector sums = model.transition().colwise().sum();
  for (RealMatrix& edge : model.edges) edge.array().rowwise() /= sums.transpose().array();
  std::vector<Symbol> symbols = testing::random_symbols(kLength, 2, random, 0.0);
  std::fill_n(symbols.begin() + 50'000, 1'500, Symbol{2});
  const SequenceSet set = set_of(std::move(symbols), 3);
  const LinearModel linear = linear_model(model, false);
  const PiecePlan plan = plan_pieces(linear.rows, linear.symbols, kLength);
  const WordTable table(linear, plan.word_length, false, 1);
  const auto found = score_by_pieces(table, set[0], 0, plan, 2);
  ASSERT_TRUE(found.has_value());
  const double expected = log_likelihoods(model, set, 0, 1).front().log_likelihood;
  EXPECT_NEAR(*found, expected, 1e-11 * (1.0 + std::abs(expected)));
}

/// Unitary Kraus operators: a mixed state stays what it is, and no two pure ones come together.
TEST(LongPieces, AreRightForModelsThatStayUnitary) {
  RandomStream random(35, Purpose::kTest, 915);
  const Index n = 6;
  KrausSet set(3, 1, n);
  for (Index y = 0; y < 3; ++y) {
    const KrausSet unitary = random_kraus(1, 1, n, random);
    set.op(y, 0) = std::sqrt(y == 0 ? 0.5 : 0.25) * unitary.op(0, 0);
  }
  const SequenceSet data = set_of(testing::random_symbols(kLength, 3, random, 0.0), 3);
  const auto alphabet = Alphabet::integers(3);
  expect_right(stationary_hqmm(alphabet, set, maximally_mixed(n)), data);
  expect_right(
      stationary_hqmm(alphabet, set, testing::random_hqmm({n, 3, 1}, random).initial_state), data);
}

TEST(LongPieces, StatesAreTheSameInEveryCoordinateOrNotAtAll) {
  const LinearModel linear(9, 2);
  const Comparison plain(linear);
  std::vector<double> a(16, 0.0);
  a[0] = 1.0;
  a[8] = 1e-30;
  std::vector<double> b = a;
  for (double& value : b) value *= 3.0;
  EXPECT_TRUE(plain.same(a.data(), b.data()));
  b[8] *= 2.0;
  EXPECT_FALSE(plain.same(a.data(), b.data()));
  b[8] = 0.0;
  EXPECT_FALSE(plain.same(a.data(), b.data()));
  LinearModel amplitudes(10, 2);
  amplitudes.squared = true;
  amplitudes.block_cols = 5;
  const Comparison up_to_phase(amplitudes);
  std::vector<double> x(16, 0.0), y(16, 0.0);
  for (std::size_t i = 0; i < 5; ++i) {
    x[i] = 1.0 + static_cast<double>(i);
    x[5 + i] = 0.5;
    y[i] = -x[5 + i];  // times i
    y[5 + i] = x[i];
  }
  EXPECT_TRUE(up_to_phase.same(x.data(), y.data()));
  y[6] *= 1.0 + 1e-12;
  EXPECT_FALSE(up_to_phase.same(x.data(), y.data()));
}

}  // namespace
}  // namespace hqmm::detail
