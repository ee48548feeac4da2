// EM against Baum–Welch written down without scaling, and what must hold of every iteration.
#include "hqmm/learn/baum_welch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/model/embedding.hpp"
#include "support/learn.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::quick;
using LongColumn = std::vector<long double>;

/// Expected counts of one sequence, from products; `scaled` divides each step's sums, which a long
/// sequence needs and a short one must not.
struct NaiveCounts {
  std::vector<LongColumn> transitions, emissions;  // [to][from], [symbol][state]
  LongColumn initial;
};

long double emitted(const Hmm& hmm, Symbol symbol, std::size_t state) {
  return symbol == kMissing ? 1.0L : hmm.emission(symbol, static_cast<Index>(state));
}

/// α_t(i) = P(y_1 … y_t, x_t = i), α_0 the initial distribution; with `scaled` divided by its sum.
std::vector<LongColumn> naive_forward(const Hmm& hmm, const std::vector<Symbol>& symbols,
                                      bool scaled) {
  const auto n = static_cast<std::size_t>(hmm.latent_dim());
  std::vector<LongColumn> alpha(symbols.size() + 1, LongColumn(n, 0.0L));
  for (std::size_t i = 0; i < n; ++i) alpha[0][i] = hmm.initial(static_cast<Index>(i));
  for (std::size_t t = 0; t < symbols.size(); ++t) {
    long double sum = 0.0L;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        alpha[t + 1][i] += emitted(hmm, symbols[t], i) *
                           hmm.transition(static_cast<Index>(i), static_cast<Index>(j)) *
                           alpha[t][j];
      }
      sum += alpha[t + 1][i];
    }
    for (std::size_t i = 0; scaled && i < n; ++i) alpha[t + 1][i] /= sum;
  }
  return alpha;
}

/// β_t(i) = P(y_{t+1} … | x_t = i); with `scaled` divided by its sum.
std::vector<LongColumn> naive_backward(const Hmm& hmm, const std::vector<Symbol>& symbols,
                                       bool scaled) {
  const auto n = static_cast<std::size_t>(hmm.latent_dim());
  std::vector<LongColumn> beta(symbols.size() + 1, LongColumn(n, 0.0L));
  beta.back().assign(n, 1.0L);
  for (std::size_t t = symbols.size(); t-- > 0;) {
    long double sum = 0.0L;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        beta[t][j] += hmm.transition(static_cast<Index>(i), static_cast<Index>(j)) *
                      emitted(hmm, symbols[t], i) * beta[t + 1][i];
      }
      sum += beta[t][j];
    }
    for (std::size_t j = 0; scaled && j < n; ++j) beta[t][j] /= sum;
  }
  return beta;
}

/// The M step of naive counts over a set: every posterior is divided by its own total.
Hmm naive_iteration(const Hmm& hmm, const SequenceSet& set, bool scaled) {
  const auto n = static_cast<std::size_t>(hmm.latent_dim());
  const auto s = static_cast<std::size_t>(hmm.alphabet_size());
  NaiveCounts counts{std::vector<LongColumn>(n, LongColumn(n)),
                     std::vector<LongColumn>(s, LongColumn(n)), LongColumn(n)};
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::vector<Symbol> symbols = set[k].to_vector();
    const auto alpha = naive_forward(hmm, symbols, scaled);
    const auto beta = naive_backward(hmm, symbols, scaled);
    for (std::size_t t = 0; t <= symbols.size(); ++t) {
      long double total = 0.0L;
      for (std::size_t i = 0; i < n; ++i) total += alpha[t][i] * beta[t][i];
      for (std::size_t i = 0; i < n; ++i) {
        const long double posterior = alpha[t][i] * beta[t][i] / total;
        if (t == 0) counts.initial[i] += posterior;
        if (t > 0 && symbols[t - 1] != kMissing) counts.emissions[symbols[t - 1]][i] += posterior;
      }
    }
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      std::vector<LongColumn> joint(n, LongColumn(n));
      long double total = 0.0L;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          joint[i][j] = alpha[t][j] * hmm.transition(static_cast<Index>(i), static_cast<Index>(j)) *
                        emitted(hmm, symbols[t], i) * beta[t + 1][i];
          total += joint[i][j];
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) counts.transitions[i][j] += joint[i][j] / total;
      }
    }
  }
  Hmm out = hmm;
  const auto fill = [n](const std::vector<LongColumn>& rows, RealMatrix& matrix) {
    for (std::size_t j = 0; j < n; ++j) {
      long double sum = 0.0L;
      for (const LongColumn& row : rows) sum += row[j];
      for (std::size_t i = 0; i < rows.size(); ++i) {
        matrix(static_cast<Index>(i), static_cast<Index>(j)) =
            static_cast<double>(rows[i][j] / sum);
      }
    }
  };
  fill(counts.transitions, out.transition);
  fill(counts.emissions, out.emission);
  const auto sequences = static_cast<long double>(set.size());
  for (std::size_t i = 0; i < n; ++i)
    out.initial(static_cast<Index>(i)) = static_cast<double>(counts.initial[i] / sequences);
  return out;
}

Hmm one_iteration(const Hmm& start, const SequenceSet& set) {
  BaumWelch em(start, set, quick(LearnerKind::kEm));
  em.run_epoch(0, testing::kNever);
  return std::get<Hmm>(em.candidate());
}

void expect_close(const Hmm& found, const Hmm& expected, double tolerance) {
  EXPECT_LT(testing::norm_distance(found.transition, expected.transition), tolerance);
  EXPECT_LT(testing::norm_distance(found.emission, expected.emission), tolerance);
  EXPECT_LT(testing::norm_distance(found.initial, expected.initial), tolerance);
}

TEST(BaumWelch, OneIterationEqualsTheUnscaledDefinition) {
  for (const Index n : {1, 2, 3}) {
    RandomStream random(17, Purpose::kTest, static_cast<std::uint64_t>(n));
    const Hmm start = testing::random_started_hmm(n, 3, random);
    std::vector<std::vector<Symbol>> sequences;
    for (const std::size_t length : {1, 4, 9, 20})
      sequences.push_back(testing::random_symbols(length, 3, random, 0.25));
    sequences.push_back({0, 1, 2});
    const SequenceSet set(start.alphabet, sequences);
    expect_close(one_iteration(start, set), naive_iteration(start, set, /*scaled=*/false), 1e-13);
  }
}

// Longer than the block within which filtered states are kept, by whole blocks, one symbol more and
// one less.
TEST(BaumWelch, SequencesOfSeveralBlocksCountTheSame) {
  RandomStream random(17, Purpose::kTest, 10);
  const Hmm start = testing::random_started_hmm(2, 3, random);
  for (const std::size_t length : {4095, 4096, 4097, 8192, 9000}) {
    const SequenceSet set(start.alphabet,
                          {testing::random_symbols(length, 3, random, 0.1), {0, 1}});
    expect_close(one_iteration(start, set), naive_iteration(start, set, /*scaled=*/true), 1e-12);
  }
}

TEST(BaumWelch, MoreSequencesThanABlockHoldsAreAllCounted) {
  RandomStream random(17, Purpose::kTest, 11);
  const Hmm start = testing::random_started_hmm(2, 2, random);
  std::vector<std::vector<Symbol>> sequences;
  for (std::size_t i = 0; i < 150; ++i)
    sequences.push_back(testing::random_symbols(1 + i % 5, 2, random, 0.1));
  const SequenceSet set(start.alphabet, sequences);
  expect_close(one_iteration(start, set), naive_iteration(start, set, /*scaled=*/false), 1e-13);
}

TEST(BaumWelch, ReportsTheLikelihoodOfTheModelBeforeTheIteration) {
  RandomStream random(17, Purpose::kTest, 12);
  const Hmm start = testing::random_started_hmm(3, 4, random);
  const SequenceSet set(start.alphabet, {testing::random_symbols(40, 4, random, 0.1),
                                         testing::random_symbols(15, 4, random, 0.1)});
  BaumWelch em(start, set, quick(LearnerKind::kEm));
  const EpochOutcome outcome = em.run_epoch(0, testing::kNever);
  EXPECT_NEAR(outcome.log_likelihood, testing::total_log_likelihood(start, set), 1e-11);
  EXPECT_FALSE(outcome.converged);
}

TEST(BaumWelch, TheLikelihoodNeverFalls) {
  const testing::SmallData data = testing::draw(synthetic_hmm(), 10, 1, 200);
  for (const Index n : {2, 4, 6}) {
    TrainOptions options = quick(LearnerKind::kEm);
    options.latent_dim = n;
    options.tolerance = 0.0;
    RandomStream random(17, Purpose::kTest, 20 + static_cast<std::uint64_t>(n));
    BaumWelch em(random_hmm(data.train.alphabet(), n, random), data.train, options);
    double last = -std::numeric_limits<double>::infinity();
    double first = 0.0;
    for (std::size_t iteration = 0; iteration < 80; ++iteration) {
      const double now = em.run_epoch(iteration, testing::kNever).log_likelihood;
      EXPECT_GE(now, last - 1e-9 * std::abs(now)) << "n=" << n << " iteration " << iteration;
      if (iteration == 0) first = now;
      last = now;
      testing::expect_valid(em.candidate());
    }
    EXPECT_GT(last, first + 100.0);
  }
}

TEST(BaumWelch, AModelScoresAsItsEmbeddingsDo) {
  const testing::SmallData data = testing::draw(synthetic_hmm(), 6, 4, 150);
  TrainOptions options = quick(LearnerKind::kEm);
  options.latent_dim = 3;
  options.epochs = 20;
  const Hmm hmm = std::get<Hmm>(train(data.train, data.validation, options).model);
  const double expected = testing::total_log_likelihood(hmm, data.validation);
  for (const Hqmm& embedded : {embed_rank_one(hmm), embed_cyclic(hmm)}) {
    testing::expect_feasible(embedded);
    EXPECT_NEAR(testing::total_log_likelihood(embedded, data.validation), expected,
                1e-12 * std::abs(expected));
  }
}

TEST(BaumWelch, ASymbolNeverSeenAndAStateNeverVisitedStayValid) {
  Hmm start;
  start.alphabet = Alphabet::integers(3);
  start.transition = RealMatrix::Identity(2, 2);
  start.emission.resize(3, 2);
  start.emission << 0.6, 0.2, 0.3, 0.3, 0.1, 0.5;
  start.initial.resize(2);
  start.initial << 1.0, 0.0;  // state 1 is out of reach
  const SequenceSet set(start.alphabet, {{0, 1, 0}, {1, 0, 0, 0}});
  const Hmm found = one_iteration(start, set);
  testing::expect_valid(found);
  EXPECT_NEAR(found.emission(2, 0), 0.5 / 7.5, 1e-12) << "a symbol never seen has half a count";
  EXPECT_TRUE(found.emission.col(1) == start.emission.col(1)) << "nothing is known of state 1";
  EXPECT_TRUE(found.transition.col(1) == start.transition.col(1));
}

TEST(BaumWelch, ASymbolSeenOnlyInValidationDoesNotMakeTheRandomStartWin) {
  const Alphabet alphabet = Alphabet::integers(3);
  const SequenceSet train_set(alphabet, {{0, 1, 0, 1, 0, 1, 0, 1}, {1, 0, 1, 0, 1, 0}});
  const SequenceSet validation(alphabet, {{0, 1, 0, 1, 0, 1, 2, 1, 0, 1, 0, 1}});
  TrainOptions options = quick(LearnerKind::kEm);
  options.latent_dim = 2;
  options.epochs = 30;
  const TrainResult result = train(train_set, validation, options);
  EXPECT_GT(result.best_epoch, 0U);
  EXPECT_TRUE(
      std::isfinite(testing::total_log_likelihood(std::get<Hmm>(result.model), validation)));
}

TEST(BaumWelch, AnImpossibleSymbolIsADivergenceWithItsPlace) {
  Hmm start;
  start.alphabet = Alphabet::integers(2);
  start.transition = RealMatrix::Identity(1, 1);
  start.emission.resize(2, 1);
  start.emission << 1.0, 0.0;
  start.initial = RealVector::Ones(1);
  const SequenceSet set(start.alphabet, {{0, 0}, {0, kMissing, 0, 1}, {1}});
  BaumWelch em(start, set, quick(LearnerKind::kEm));
  try {
    em.run_epoch(0, testing::kNever);
    ADD_FAILURE() << "no divergence";
  } catch (const DivergedError& error) {
    EXPECT_EQ(error.place().sequence, 1U);
    EXPECT_EQ(error.place().position, 3U);
  }
}

}  // namespace
}  // namespace hqmm::detail
