// Likelihoods are probabilities: they sum to one, and marginals are sums.
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/filter_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

using Anchor = PositionMap::Anchor;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The likelihood of one sequence, through the filter given.
template <typename Filter>
SequenceLikelihood likelihood(Filter& filter, const std::vector<Symbol>& symbols,
                              std::size_t burn_in = 0) {
  const SequenceSet set(Alphabet::integers(filter.alphabet_size()), {symbols});
  return log_likelihood(filter, set[0], burn_in);
}

template <typename Model>
double sum_of_all_probabilities(const Model& model, std::size_t length) {
  auto filter = make_filter(model);
  return sum_over_sequences(length, filter.alphabet_size(),
                            [&](const std::vector<Symbol>& symbols) {
                              return std::exp(likelihood(filter, symbols).log_likelihood);
                            });
}

std::vector<Hqmm> small_models(std::uint64_t seed) {
  std::vector<Hqmm> models;
  for (const Shape& shape : small_shapes()) {
    RandomStream random(seed, Purpose::kTest, models.size());
    models.push_back(random_hqmm(shape, random));
    models.push_back(random_positional_hqmm(shape, Anchor::kStart, random));
    models.push_back(random_positional_hqmm(shape, Anchor::kEnd, random));
  }
  return models;
}

TEST(Likelihood, OfAllSequencesSumsToOneForEveryHqmm) {
  for (const Hqmm& model : small_models(21)) {
    EXPECT_NEAR(sum_of_all_probabilities(model, 5), 1.0, 1e-12);
  }
}

TEST(Likelihood, OfAllSequencesSumsToOneForEveryHmm) {
  for (const Shape& shape : small_shapes()) {
    RandomStream random(22, Purpose::kTest, static_cast<std::uint64_t>(shape.w));
    EXPECT_NEAR(sum_of_all_probabilities(random_started_hmm(shape.n, shape.s, random), 5), 1.0,
                1e-12);
  }
}

TEST(Likelihood, OfAllSequencesSumsToOneEvenWhenInfeasible) {
  RandomStream random(23, Purpose::kTest);
  for (Hqmm model : small_models(23)) {
    make_infeasible(model, random);
    ASSERT_FALSE(is_feasible(model));
    EXPECT_NEAR(sum_of_all_probabilities(model, 5), 1.0, 1e-12);
  }
}

TEST(Likelihood, RawOfAnInfeasibleModelIsTheTraceOfTheProduct) {
  RandomStream random(24, Purpose::kTest);
  for (Hqmm model : small_models(24)) {
    make_infeasible(model, random);
    HqmmFilter filter(model);
    const auto symbols = random_symbols(6, model.alphabet_size(), random);
    const SequenceLikelihood found = likelihood(filter, symbols);
    const double expected = std::log(naive_probability(model, symbols));
    EXPECT_NEAR(found.raw_log_likelihood, expected, 1e-12 * std::max(1.0, std::abs(expected)));
  }
}

TEST(Likelihood, ScalingTheOperatorsAddsToRawAndToNothingElse) {
  RandomStream random(25, Purpose::kTest);
  const Hqmm model = random_hqmm({3, 4, 2}, random);
  const auto symbols = random_symbols(50, 4, random);
  HqmmFilter filter(model);
  const SequenceLikelihood before = likelihood(filter, symbols, 10);
  EXPECT_EQ(before.raw_log_likelihood, before.log_likelihood);
  for (const double c : {0.5, 1.1, 3.0}) {
    Hqmm scaled = model;
    scaled.sets[0].gamma() *= c;
    HqmmFilter scaled_filter(scaled);
    const SequenceLikelihood after = likelihood(scaled_filter, symbols, 10);
    EXPECT_NEAR(after.log_likelihood, before.log_likelihood, 1e-11);
    EXPECT_NEAR(after.raw_log_likelihood, before.log_likelihood + 40 * 2.0 * std::log(c), 1e-11);
  }
}

template <typename Model>
void expect_missing_symbols_are_summed_over(const Model& model, RandomStream& random) {
  auto filter = make_filter(model);
  const auto s = static_cast<Index>(filter.alphabet_size());
  for (const std::size_t missing : {1, 3}) {
    auto symbols = random_symbols(7, s, random);
    for (std::size_t k = 0; k < missing; ++k) symbols[random.below(symbols.size())] = kMissing;
    const auto observed = static_cast<std::uint64_t>(
        std::count_if(symbols.begin(), symbols.end(), [](Symbol y) { return y != kMissing; }));
    const SequenceLikelihood found = likelihood(filter, symbols);
    EXPECT_EQ(found.scored, observed);
    const double sum = sum_over_missing(symbols, filter.alphabet_size(), [&](const auto& filled) {
      return std::exp(likelihood(filter, filled).log_likelihood);
    });
    EXPECT_NEAR(std::exp(found.log_likelihood), sum, 1e-12);
    EXPECT_NEAR(sum, naive_probability(model, symbols), 1e-12);
  }
}

TEST(Likelihood, WithMissingSymbolsIsTheSumOverTheirValues) {
  RandomStream random(26, Purpose::kTest);
  for (const Hqmm& model : small_models(26)) expect_missing_symbols_are_summed_over(model, random);
  for (const Shape& shape : small_shapes()) {
    expect_missing_symbols_are_summed_over(random_started_hmm(shape.n, shape.s, random), random);
  }
}

TEST(Likelihood, OfNothingButMissingSymbolsScoresNothing) {
  const std::vector<Symbol> symbols(5, kMissing);
  const Hqmm hqmm = synthetic_hqmm();
  const Hmm hmm = synthetic_hmm();
  HqmmFilter quantum(hqmm);
  HmmFilter classical(hmm);
  for (const SequenceLikelihood& found :
       {likelihood(quantum, symbols), likelihood(classical, symbols)}) {
    EXPECT_EQ(found.scored, 0U);
    EXPECT_EQ(found.log_likelihood, 0.0);
    EXPECT_FALSE(found.impossible_at);
  }
}

TEST(Likelihood, BurnInMovesTheStateAndIsNotScored) {
  RandomStream random(27, Purpose::kTest);
  const Hqmm model = random_hqmm({3, 3, 2}, random);
  HqmmFilter filter(model);
  const std::vector<Symbol> symbols{0, 2, 1, 1, 0, 2};
  const double whole = likelihood(filter, symbols).log_likelihood;
  const double head = likelihood(filter, {0, 2, 1}).log_likelihood;
  const SequenceLikelihood tail = likelihood(filter, symbols, 3);
  EXPECT_NEAR(tail.log_likelihood, whole - head, 1e-14);
  EXPECT_EQ(tail.scored, 3U);
  EXPECT_EQ(likelihood(filter, symbols, 6).scored, 0U);
  EXPECT_EQ(likelihood(filter, symbols, 60).scored, 0U);
}

TEST(Likelihood, OfAnImpossibleSymbolIsMinusInfinityAndSaysWhere) {
  const Hqmm model = synthetic_hqmm();
  HqmmFilter filter(model);
  // +z, +x, −x (impossible), +y, −y (impossible)
  const SequenceLikelihood found = likelihood(filter, {0, 2, 3, 4, 5});
  EXPECT_EQ(found.log_likelihood, -kInfinity);
  EXPECT_EQ(found.scored, 5U);
  EXPECT_EQ(found.impossible_at, 2U);
  EXPECT_EQ(likelihood(filter, {0, 2, 3, 4, 5}, 3).impossible_at, 4U);
  EXPECT_TRUE(std::isfinite(likelihood(filter, {0, 2, 3, 4}, 3).log_likelihood));
}

TEST(Likelihood, OfASetIsTheSameAtAnyThreadCount) {
  for (const AnyModel& model : {AnyModel(synthetic_hmm()), AnyModel(synthetic_hqmm())}) {
    SampleOptions options;
    options.count = 50;
    options.length = 40;
    const SequenceSet set = sample(model, options);
    const auto one = log_likelihoods(model, set, 5, 1);
    const auto two = log_likelihoods(model, set, 5, 2);
    ASSERT_EQ(one.size(), 50U);
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].log_likelihood, two[i].log_likelihood);
      EXPECT_EQ(one[i].scored, 35U);
    }
  }
}

ErrorCode code_of_scoring(const SequenceSet& set) {
  try {
    (void)log_likelihoods(synthetic_hmm(), set, 0, 1);
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

TEST(Likelihood, RefusesDataOfAnotherAlphabet) {
  EXPECT_EQ(code_of_scoring(SequenceSet(Alphabet::dna(), {{0, 1}})), ErrorCode::kBadData);
  EXPECT_EQ(code_of_scoring(SequenceSet(Alphabet::integers(7), {{0, 1}})), ErrorCode::kBadData);
  EXPECT_EQ(code_of_scoring(SequenceSet(Alphabet::integers(6), {{0, 6}})), ErrorCode::kBadData);
  EXPECT_EQ(code_of_scoring(SequenceSet(Alphabet::integers(5), {{0, 1, kMissing}})), ErrorCode{});
}

}  // namespace
}  // namespace hqmm::detail::testing
