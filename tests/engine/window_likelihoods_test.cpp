// Windows through word tables against the filters, symbol by symbol.
#include "hqmm/engine/windows/window_likelihoods.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/engine/windows/word_tables.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/mixture.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

constexpr double kClose = 1e-10;

std::vector<Symbol> window_symbols(std::size_t length, std::size_t s, double missing,
                                   std::uint64_t seed) {
  RandomStream random(seed, Purpose::kTest);
  std::vector<Symbol> out(length);
  for (Symbol& symbol : out) {
    symbol = static_cast<Symbol>(random.below(s));
    if (random.uniform() < missing) symbol = kMissing;
  }
  return out;
}

struct Windows {
  std::size_t window = 1, step = 1, count = 1;
};

std::vector<double> by_tables(const AnyModel& model, const std::vector<Symbol>& symbols,
                              const Windows& windows) {
  WindowTile tile(symbols, alphabet_of(model).size(), windows.window, windows.step, windows.count);
  std::vector<double> out(windows.count);
  WindowLikelihoods(model, windows.window, 1).score(tile, out);
  return out;
}

void expect_as_filter(const AnyModel& model, const std::vector<Symbol>& symbols,
                      const Windows& windows) {
  const std::vector<double> found = by_tables(model, symbols, windows);
  SequenceSet set(alphabet_of(model));
  for (std::size_t i = 0; i < windows.count; ++i) {
    for (std::size_t t = 0; t < windows.window; ++t) set.push_back(symbols[i * windows.step + t]);
    set.end_sequence();
  }
  const auto expected = log_likelihoods(model, set, 0, 1);
  for (std::size_t i = 0; i < windows.count; ++i) {
    const double right = expected[i].log_likelihood;
    if (std::isinf(right)) {
      EXPECT_EQ(found[i], right) << "window " << i;
    } else {
      EXPECT_NEAR(found[i], right, kClose * std::max(1.0, std::abs(right))) << "window " << i;
    }
  }
}

/// With as many windows as the symbols hold, few and many of them missing.
void expect_everywhere(const AnyModel& model, std::size_t window, std::size_t step) {
  const std::size_t s = alphabet_of(model).size();
  for (const double missing : {0.0, 0.02, 0.3}) {
    const auto symbols = window_symbols(window + 80, s, missing, window);
    expect_as_filter(model, symbols, {window, step, 80 / step + 1});
  }
}

Hqmm window_hqmm(Index s, Index w, Index n, PositionMap positions, Field field = Field::kComplex,
                 EmissionKind emits = EmissionKind::kEdge) {
  RandomStream random(7, Purpose::kTest);
  Hqmm model;
  model.alphabet = Alphabet::integers(static_cast<std::size_t>(s));
  for (std::size_t i = 0; i < positions.set_count(); ++i) {
    model.sets.push_back(emits == EmissionKind::kEdge ? random_kraus(s, w, n, random, field)
                                                      : random_state_kraus(s, w, n, random, field));
  }
  model.positions = std::move(positions);
  model.initial_state = random_density_matrix(n, random, field);
  model.field = field;
  return model;
}

TEST(WindowLikelihoods, CutsWindowsWithoutAGap) {
  for (const std::size_t window : {1, 2, 7, 8, 13, 14, 15, 16, 60, 61, 301}) {
    for (const std::size_t body : {1, 3, 4}) {
      const WindowCut cut = cut_window(window, 7, body);
      std::size_t sum = cut.head + cut.tail;
      for (const std::size_t length : cut.bodies) {
        EXPECT_GE(length, 1U);
        EXPECT_LE(length, body);
        sum += length;
      }
      EXPECT_EQ(sum, window);
      EXPECT_GE(cut.head, 1U);
      EXPECT_LE(std::max(cut.head, cut.tail), 7U);
    }
  }
}

TEST(WindowLikelihoods, OfStationaryModels) {
  for (const std::size_t window : {1, 2, 15, 60})
    for (const std::size_t step : {1, 3, 200})
      expect_everywhere(window_hqmm(4, 2, 3, {}), window, step);
}

TEST(WindowLikelihoods, OfPositionDependentModels) {
  const std::vector<std::uint32_t> tied{0, 0, 0, 1, 2, 3, 3, 3, 4, 4, 4, 0, 0, 0, 5, 5,
                                        5, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2};
  for (const auto anchor : {PositionMap::Anchor::kStart, PositionMap::Anchor::kEnd})
    expect_everywhere(window_hqmm(4, 2, 4, PositionMap(tied, anchor)), tied.size(), 1);
  expect_everywhere(window_hqmm(4, 1, 4, PositionMap::each(60)), 60, 1);
}

TEST(WindowLikelihoods, OfStructuredModels) {
  for (const auto field : {Field::kReal, Field::kComplex})
    for (const auto emits : {EmissionKind::kEdge, EmissionKind::kState})
      expect_everywhere(window_hqmm(4, 2, 4, PositionMap::each(33), field, emits), 33, 1);
}

TEST(WindowLikelihoods, OfAlphabetsOfAnySize) {
  expect_everywhere(window_hqmm(1, 1, 2, {}), 40, 1);
  expect_everywhere(window_hqmm(2, 2, 5, {}), 40, 1);
  expect_everywhere(window_hqmm(20, 2, 3, {}), 40, 1);
  expect_everywhere(window_hqmm(300, 1, 2, {}), 9, 1);
}

TEST(WindowLikelihoods, OfHiddenMarkovModels) {
  RandomStream random(3, Purpose::kTest);
  for (const Index n : {1, 4, 11}) {
    expect_everywhere(random_hmm(Alphabet::dna(), n, random), 60, 1);
    expect_everywhere(random_edge_hmm(Alphabet::dna(), n, random), 33, 2);
  }
}

TEST(WindowLikelihoods, OfMixtures) {
  std::vector<Hqmm> members{window_hqmm(4, 2, 2, PositionMap::each(30)),
                            window_hqmm(4, 1, 3, PositionMap::each(30))};
  members[1].initial_state = maximally_mixed(3);
  expect_everywhere(mixture(members, std::vector<double>{0.3, 0.7}), 30, 1);
}

TEST(WindowLikelihoods, OfLongWindowsWhoseProbabilitiesNoDoubleHolds) {
  expect_everywhere(window_hqmm(4, 2, 2, {}), 2000, 7);
}

TEST(WindowLikelihoods, OfModelsThatAreNotTracePreserving) {
  Hqmm model = window_hqmm(4, 2, 2, {});
  model.sets[0].gamma() *= 1.01;
  expect_everywhere(model, 20, 1);
}

TEST(WindowLikelihoods, WhereSymbolsAreImpossible) {
  RandomStream random(5, Purpose::kTest);
  Hmm hmm = random_hmm(Alphabet::dna(), 3, random);
  hmm.emission.row(0) += hmm.emission.row(2);
  hmm.emission.row(2).setZero();
  expect_everywhere(hmm, 25, 1);
  // Measures the same qubit again and again: 0 after 1 never comes, but for rounding.
  KrausSet measure(2, 1, 2);
  const double a = std::cos(0.4), b = std::sin(0.4);
  measure.gamma() << a * a, a * b, a * b, b * b, b * b, -a * b, -a * b, a * a;
  const Hqmm qubit = stationary_hqmm(Alphabet::integers(2), measure, maximally_mixed(2));
  expect_everywhere(qubit, 20, 1);
  std::vector<Symbol> mostly(60, 1);
  mostly[30] = 0;
  expect_as_filter(qubit, mostly, {20, 1, 41});
}

TEST(WindowLikelihoods, WhereAlmostEverythingCancels) {
  // As above with a little noise: what a forbidden change leaves is 1e-7 of a state.
  const double leak = 1e-7;
  KrausSet measure(2, 2, 2);
  const double a = std::cos(0.4), b = std::sin(0.4);
  Stack zero(2, 2), one(2, 2);
  zero << a * a, a * b, a * b, b * b;
  one << b * b, -a * b, -a * b, a * a;
  measure.op(0, 0) = std::sqrt(1.0 - leak) * zero;
  measure.op(0, 1) = std::sqrt(leak) * one;
  measure.op(1, 0) = std::sqrt(1.0 - leak) * one;
  measure.op(1, 1) = std::sqrt(leak) * zero;
  expect_everywhere(stationary_hqmm(Alphabet::integers(2), measure, maximally_mixed(2)), 30, 1);
}

TEST(WindowLikelihoods, DoNotDependOnWhichWindowsAreTogether) {
  const AnyModel model = window_hqmm(4, 2, 4, PositionMap::each(60));
  const auto symbols = window_symbols(60 + 999, 4, 0.001, 2);
  const auto together = by_tables(model, symbols, {60, 1, 1000});
  for (const std::size_t i : {0, 1, 500, 999}) {
    const std::vector<Symbol> alone(symbols.begin() + static_cast<std::ptrdiff_t>(i),
                                    symbols.begin() + static_cast<std::ptrdiff_t>(i) + 60);
    EXPECT_NEAR(by_tables(model, alone, {60, 1, 1})[0], together[i], 1e-11);
  }
}

}  // namespace
}  // namespace hqmm::detail
