// Samples: reproducible, and distributed as the model says.
#include "hqmm/model/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

// ---- Exact entropies to compare with

/// Σ over all words of `length` of −P log P, from the state x before the next transition, which has
/// the weight P(word so far).
double block_entropy(const Hmm& hmm, const RealVector& x, std::size_t length) {
  const double weight = x.sum();
  if (length == 0) return weight > 0.0 ? -weight * std::log(weight) : 0.0;
  const RealVector predicted = hmm.transition * x;
  double sum = 0.0;
  for (Index y = 0; y < hmm.alphabet_size(); ++y) {
    sum += block_entropy(hmm, hmm.emission.row(y).transpose().cwiseProduct(predicted), length - 1);
  }
  return sum;
}

/// H(Y_k | Y_1 … Y_{k−1}) when the state before Y_1 is drawn from x.
double conditional_entropy(const Hmm& hmm, const RealVector& x, std::size_t k) {
  return block_entropy(hmm, x, k) - block_entropy(hmm, x, k - 1);
}

struct Bounds {
  double lower = 0.0;  // H(Y_k | Y_1 … Y_{k−1}, X_0)
  double upper = 0.0;  // H(Y_k | Y_1 … Y_{k−1})
};

/// The entropy rate of a stationary HMM lies between these (Cover & Thomas, theorem 4.5.1).
Bounds entropy_rate_bounds(const Hmm& hmm, std::size_t k) {
  const RealVector stationary = channel_fixed_point(hmm).state.diagonal().real();
  Bounds out;
  out.upper = conditional_entropy(hmm, stationary, k);
  for (Index x = 0; x < hmm.latent_dim(); ++x) {
    out.lower += stationary(x) * conditional_entropy(hmm, RealVector::Unit(hmm.latent_dim(), x), k);
  }
  return out;
}

/// After an outcome v the state is |v⟩⟨v| whatever came before, so the outcomes form a Markov
/// chain: v again with probability 1/3 (the same axis, chosen one time in three), its opposite
/// never, and each of the four outcomes on the other axes with 1/3 · 1/2. The rows are permutations
/// of each other, so the entropy rate is that of any one row.
double stern_gerlach_entropy_rate() {
  return -(1.0 / 3.0) * std::log(1.0 / 3.0) - (4.0 / 6.0) * std::log(1.0 / 6.0);
}

// ---- One million symbols from each true model

constexpr std::size_t kSequences = 500;
constexpr std::size_t kLength = 2000;
constexpr std::size_t kSettled = 100;  // symbols until the start is forgotten

SequenceSet million_symbols(const AnyModel& model) {
  SampleOptions options;
  options.count = kSequences;
  options.length = kLength;
  options.seed = 2024;
  return sample(model, options);
}

struct Estimate {
  double mean = 0.0;
  double standard_error = 0.0;
};

Estimate estimate(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Estimate out;
  for (const double value : values) out.mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.standard_error = std::sqrt(squares / (count - 1.0) / count);
  return out;
}

Estimate surprise_per_symbol(const AnyModel& model, const SequenceSet& set) {
  std::vector<double> means;
  for (const SequenceLikelihood& one : log_likelihoods(model, set, kSettled, 0)) {
    means.push_back(-one.log_likelihood / static_cast<double>(one.scored));
  }
  return estimate(means);
}

void expect_frequencies(const SequenceSet& set, const std::vector<double>& expected) {
  for (std::size_t y = 0; y < expected.size(); ++y) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < set.size(); ++i) {
      double count = 0.0;
      for (std::size_t t = kSettled; t < kLength; ++t) count += set[i][t] == y ? 1.0 : 0.0;
      shares.push_back(count / static_cast<double>(kLength - kSettled));
    }
    const Estimate found = estimate(shares);
    EXPECT_LT(found.standard_error, 0.001);
    EXPECT_NEAR(found.mean, expected[y], 4.0 * found.standard_error) << "symbol " << y;
  }
}

/// The distribution of a symbol at a random time.
template <typename Model, typename State>
std::vector<double> stationary_frequencies(const Model& model, const State& fixed_point) {
  auto filter = make_filter(model);
  filter.set_state(fixed_point);
  std::vector<double> out(filter.alphabet_size());
  filter.next_distribution(out);
  return out;
}

TEST(Sample, OfTheSternGerlachModelHasItsEntropyAndFrequencies) {
  const Hqmm model = synthetic_hqmm();
  const SequenceSet set = million_symbols(model);
  const Estimate found = surprise_per_symbol(model, set);
  EXPECT_LT(found.standard_error, 0.001);
  EXPECT_NEAR(found.mean, stern_gerlach_entropy_rate(), 3.0 * found.standard_error);
  const auto expected = stationary_frequencies(model, channel_fixed_point(model.sets[0]).state);
  for (const double p : expected) EXPECT_NEAR(p, 1.0 / 6.0, 1e-12);
  expect_frequencies(set, expected);
}

TEST(Sample, OfTheHmmHasItsEntropyAndFrequencies) {
  const Hmm hmm = synthetic_hmm();
  const SequenceSet set = million_symbols(hmm);
  const Estimate found = surprise_per_symbol(hmm, set);
  const Bounds bounds = entropy_rate_bounds(hmm, 6);
  EXPECT_LT(found.standard_error, 0.001);
  EXPECT_GE(found.mean, bounds.lower - 3.0 * found.standard_error);
  EXPECT_LE(found.mean, bounds.upper + 3.0 * found.standard_error);
  const EntropyRate rate = entropy_rate(hmm);
  EXPECT_NEAR(found.mean, rate.nats, 3.0 * std::hypot(found.standard_error, rate.standard_error));
  const RealVector stationary = channel_fixed_point(hmm).state.diagonal().real();
  expect_frequencies(set, stationary_frequencies(hmm, stationary));
}

TEST(EntropyRate, OfTheHmmLiesWithinItsExactBounds) {
  const Hmm hmm = synthetic_hmm();
  const EntropyRate found = entropy_rate(hmm);
  EXPECT_LT(found.standard_error, 0.01);
  double upper_before = std::log(6.0);
  double lower_before = 0.0;
  for (std::size_t k = 1; k <= 6; ++k) {
    const Bounds bounds = entropy_rate_bounds(hmm, k);
    EXPECT_LE(bounds.upper, upper_before + 1e-12);
    EXPECT_GE(bounds.lower, lower_before - 1e-12);
    EXPECT_LE(found.nats, bounds.upper + 4.0 * found.standard_error);
    EXPECT_GE(found.nats, bounds.lower - 4.0 * found.standard_error);
    upper_before = bounds.upper;
    lower_before = bounds.lower;
  }
  EXPECT_LT(upper_before - lower_before, 0.02);
}

TEST(EntropyRate, OfTheSternGerlachModelIsExact) {
  const EntropyRate found = entropy_rate(synthetic_hqmm());
  EXPECT_NEAR(found.nats, stern_gerlach_entropy_rate(), 1e-9);
  EXPECT_LE(found.standard_error, 1e-9);
}

TEST(EntropyRate, IsTheSameAtAnyThreadCountAndSpendsTheSymbolsGiven) {
  const Hmm hmm = synthetic_hmm();
  const EntropyRate one = entropy_rate(hmm, {3200, 7, 1});
  const EntropyRate two = entropy_rate(hmm, {3200, 7, 2});
  EXPECT_EQ(one.nats, two.nats);
  EXPECT_EQ(one.standard_error, two.standard_error);
  EXPECT_EQ(one.symbols, 3200U);
  EXPECT_NE(one.nats, entropy_rate(hmm, {3200, 8, 1}).nats);
}

TEST(EntropyRate, UsesTheSetThatThePositionMapNames) {
  Hqmm model = synthetic_hqmm();
  model.positions = PositionMap({1});
  KrausSet constant(6, 1, 2);
  constant.op(3, 0) = Matrix::Identity(2, 2);
  model.sets = {constant, model.sets[0], constant};
  EXPECT_NEAR(entropy_rate(model).nats, stern_gerlach_entropy_rate(), 1e-9);
}

TEST(EntropyRate, OfAPositionDependentModelIsAnError) {
  Hqmm model = synthetic_hqmm();
  model.positions = PositionMap({0, 0});
  EXPECT_THROW((void)entropy_rate(model), Error);
}

// ---- Reproducibility

SequenceSet draw(const AnyModel& model, std::size_t count, std::uint64_t seed, std::uint64_t first,
                 int threads) {
  return sample(model, {count, 50, seed, first, threads});
}

TEST(Sample, DependsOnSeedAndIndexAlone) {
  RandomStream random(71, Purpose::kTest);
  const Hqmm positional = random_positional_hqmm({3, 4, 2}, PositionMap::Anchor::kEnd, random);
  for (const AnyModel& model :
       {AnyModel(synthetic_hmm()), AnyModel(synthetic_hqmm()), AnyModel(positional)}) {
    const SequenceSet all = draw(model, 20, 5, 0, 1);
    const SequenceSet parallel = draw(model, 20, 5, 0, 2);
    const SequenceSet later = draw(model, 8, 5, 12, 2);
    const SequenceSet other = draw(model, 20, 6, 0, 1);
    ASSERT_EQ(all.size(), 20U);
    EXPECT_EQ(all.alphabet(), alphabet_of(model));
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(all[i].size(), 50U);
      EXPECT_EQ(all[i], parallel[i]);
      EXPECT_FALSE(all[i] == other[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(all[12 + i], later[i]);
    EXPECT_FALSE(all[0] == all[1]);
  }
}

TEST(Sample, TheWavesItIsDrawnInDoNotShow) {
  const SequenceSet many = sample(synthetic_hqmm(), {1030, 3, 1, 0, 1});
  const SequenceSet last = sample(synthetic_hqmm(), {6, 3, 1, 1024, 1});
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(many[1024 + i], last[i]);
}

TEST(Sample, MayBeEmpty) {
  EXPECT_EQ(sample(synthetic_hmm(), {0, 10, 1, 0, 1}).size(), 0U);
  const SequenceSet set = sample(synthetic_hmm(), {2, 0, 1, 0, 1});
  EXPECT_EQ(set.size(), 2U);
  EXPECT_EQ(set.symbol_count(), 0U);
}

TEST(Sample, OfAModelWithoutAnyWeightIsAnError) {
  const Hqmm model = stationary_hqmm(Alphabet::integers(2), KrausSet(2, 1, 2), maximally_mixed(2));
  EXPECT_THROW((void)sample(model, {1, 5, 1, 0, 1}), Error);
}

// All words of length two, drawn often, come as often as their likelihood says: chi square with at
// most eight degrees of freedom stays under 26 (p = 0.001).
TEST(Sample, WordsComeAsOftenAsTheirLikelihoodSays) {
  for (const bool feasible : {true, false}) {
    RandomStream random(72, Purpose::kTest);
    Hqmm model = random_positional_hqmm({2, 3, 2}, PositionMap::Anchor::kEnd, random);
    if (!feasible) make_infeasible(model, random);
    constexpr std::size_t kDraws = 20000;
    const SequenceSet set = sample(model, {kDraws, 2, 3, 0, 0});
    double chi_square = 0.0;
    sum_over_sequences(2, 3, [&](const std::vector<Symbol>& word) {
      const SequenceSet one(model.alphabet, {word});
      const double expected =
          kDraws * std::exp(log_likelihoods(model, one, 0, 1).front().log_likelihood);
      double count = 0.0;
      for (std::size_t i = 0; i < kDraws; ++i) count += set[i] == one[0] ? 1.0 : 0.0;
      chi_square += (count - expected) * (count - expected) / expected;
      return 0.0;
    });
    EXPECT_LT(chi_square, 26.0);
  }
}

TEST(Benchmark, HasThePapersSizesAndNoSequenceTwice) {
  const Benchmark drawn = generate_benchmark(synthetic_hqmm(), 4, 2);
  EXPECT_EQ(drawn.train.size(), 20U);
  EXPECT_EQ(drawn.validation.size(), 10U);
  EXPECT_EQ(drawn.test.size(), 10U);
  EXPECT_EQ(drawn.test.symbol_count(), 30000U);
  EXPECT_FALSE(drawn.train[0] == drawn.validation[0]);
  EXPECT_FALSE(drawn.train[0] == drawn.test[0]);
  EXPECT_FALSE(drawn.validation[0] == drawn.test[0]);
  EXPECT_EQ(generate_benchmark(synthetic_hqmm(), 4, 1).test.hash(), drawn.test.hash());
}

}  // namespace
}  // namespace hqmm::detail::testing
