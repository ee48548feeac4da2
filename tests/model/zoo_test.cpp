// The zoo: exact models are what they say, and their entropy rates are right.
#include "hqmm/model/zoo.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "hqmm/model/channel.hpp"
#include "hqmm/model/zoo_models.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

double probability(const AnyModel& model, const std::vector<Symbol>& symbols) {
  return std::visit([&](const auto& m) { return naive_probability(m, symbols); }, model);
}

std::size_t alphabet_size(const AnyModel& model) { return alphabet_of(model).size(); }

/// The paper's two start as the paper has them.
bool stationary_start(const Process& process) { return !process.name.starts_with("synthetic"); }

TEST(Zoo, ModelsAreExactAndProbabilitiesSumToOne) {
  std::set<std::string_view> names;
  for (const Process& process : processes()) {
    const AnyModel model = process.model();
    EXPECT_TRUE(names.insert(process.name).second);
    EXPECT_EQ(find_process(process.name), &process);
    EXPECT_LE(feasibility_residual(model), 1e-14) << process.name;
    std::visit([](const auto& m) { require_valid(m); }, model);
    for (const std::size_t length : {1U, 2U, 3U}) {
      const double sum = sum_over_sequences(length, alphabet_size(model),
                                            [&](const auto& y) { return probability(model, y); });
      EXPECT_NEAR(sum, 1.0, 1e-12) << process.name;
    }
  }
  EXPECT_EQ(find_process("golden"), nullptr);
}

TEST(Zoo, SequencesStartInTheStationaryState) {
  for (const Process& process : processes()) {
    if (!stationary_start(process)) continue;
    const AnyModel model = process.model();
    const auto s = alphabet_size(model);
    for (Symbol y = 0; y < s; ++y) {
      const double first = probability(model, {y});
      EXPECT_NEAR(probability(model, {kMissing, y}), first, 1e-12) << process.name;
      EXPECT_NEAR(probability(model, {kMissing, kMissing, kMissing, y}), first, 1e-12);
    }
  }
}

/// H(length + 1) − H(length) in bits: comes down to the entropy rate of a stationary process.
double conditional_entropy(const AnyModel& model, std::size_t length) {
  const auto block = [&](std::size_t symbols) {
    return sum_over_sequences(symbols, alphabet_size(model), [&](const auto& y) {
      const double p = probability(model, y);
      return p > 0.0 ? -p * std::log2(p) : 0.0;
    });
  };
  return block(length + 1) - block(length);
}

TEST(Zoo, ExactEntropyRatesAreThoseOfTheModels) {
  for (const Process& process : processes()) {
    const auto exact = process.exact_entropy();
    if (!exact) continue;
    const AnyModel model = process.model();
    const EntropyRate found = std::visit(
        [](const auto& m) {
          return entropy_rate(m, {1U << 14U, 1, 1});
        },
        model);
    EXPECT_NEAR(found.nats / std::numbers::ln2, *exact,
                5.0 * found.standard_error / std::numbers::ln2 + 1e-9)
        << process.name;
    if (!stationary_start(process)) continue;
    const double bound = conditional_entropy(model, alphabet_size(model) == 2 ? 6 : 3);
    EXPECT_GE(bound, *exact - 1e-9) << process.name;
    EXPECT_LE(bound, *exact + 0.1) << process.name;
  }
  EXPECT_NEAR(*find_process("golden-mean")->exact_entropy(), 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(*find_process("even")->exact_entropy(), 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(*find_process("simple-nonunifilar")->exact_entropy(), 0.67786, 1e-4);
}

TEST(Zoo, ForbiddenWordsNeverOccur) {
  const auto never = [](const AnyModel& model, const std::vector<std::vector<Symbol>>& words) {
    for (const auto& word : words) EXPECT_LE(probability(model, word), 1e-15);
  };
  never(golden_mean(), {{0, 0}, {1, 0, 0, 1}});
  never(even_process(), {{0, 1, 0}, {0, 1, 1, 1, 0}, {0, 1, 1, 1, 1, 1, 0}});
  never(simple_nonunifilar(), {{1, 1}});
  never(random_insertion(), {{0, 0, 0}});
  never(nemo(), {{0, 0, 0}});
  // + and − take turns along either axis, whatever number of 0s is between them.
  never(aklt(), {{0, 0}, {0, 1, 0}, {2, 1, 1, 2}, {3, 3}, {5, 4, 5}});
  never(fanizza(), {{1, 1}});
  EXPECT_GT(probability(golden_mean(), {1, 0, 1, 1}), 0.01);
  EXPECT_GT(probability(even_process(), {0, 1, 1, 0}), 0.01);
  EXPECT_GT(probability(aklt(), {0, 1, 2, 3}), 0.001);
}

/// The chance of n zeros between two 1s goes like aⁿ (b + c cos(2n + d)): divided by aⁿ it obeys
/// the recurrence with the roots 1 and e^{±2i}. No power of e^{2i} is 1, so no finite HMM does
/// that.
TEST(Zoo, TheFanizzaProcessWaitsWithAnIrrationalPeriod) {
  const AnyModel model = fanizza();
  std::vector<double> waits;
  for (std::size_t n = 0; n < 20; ++n) {
    std::vector<Symbol> word(n + 2, 0);
    word.front() = word.back() = 1;
    waits.push_back(probability(model, word) * std::pow(0.5, -0.5 * static_cast<double>(n)));
  }
  const double root = 1.0 + 2.0 * std::cos(2.0);
  double turns = 0.0;
  for (std::size_t n = 0; n + 3 < waits.size(); ++n) {
    EXPECT_NEAR(waits[n + 3] - root * waits[n + 2] + root * waits[n + 1] - waits[n], 0.0, 1e-12);
    turns = std::max(turns, std::abs(waits[n + 1] - waits[n]));
  }
  EXPECT_GT(turns, 0.01);  // it does come and go
}

/// Four pure states are all that the symbols leave: an HMM with four states does the same.
TEST(Zoo, TheAkltChainIsAnHmmOfFourStates) {
  const auto aklt_probability = [model = AnyModel(aklt())](const std::vector<Symbol>& word) {
    return probability(model, word);
  };
  // States z+, z−, x+, x−: after + and − along an axis. A 0 along the axis keeps the state, along
  // the other it flips it.
  EdgeHmm hmm;
  hmm.alphabet = Alphabet::integers(6);
  hmm.edges.assign(6, RealMatrix::Zero(4, 4));
  for (Index axis = 0; axis < 2; ++axis) {
    const auto symbol = [&](Index y) -> RealMatrix& {
      return hmm.edges[static_cast<std::size_t>(3 * axis + y)];
    };
    const Index up = 2 * axis;
    const Index down = up + 1;
    const Index other = 2 - up;
    symbol(0)(up, down) = symbol(2)(down, up) = 1.0 / 3.0;
    symbol(1)(up, up) = symbol(1)(down, down) = 1.0 / 6.0;
    for (const Index from : {other, other + 1}) {
      symbol(0)(up, from) = symbol(2)(down, from) = 1.0 / 6.0;
      symbol(1)(2 * other + 1 - from, from) = 1.0 / 6.0;
    }
  }
  hmm.initial = RealVector::Constant(4, 0.25);
  const double apart = sum_over_sequences(4, 6, [&](const auto& word) {
    return std::abs(aklt_probability(word) - naive_probability(hmm, word));
  });
  EXPECT_LE(apart, 1e-12);
}

}  // namespace
}  // namespace hqmm::detail::testing
