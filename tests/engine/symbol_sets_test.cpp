// Symbols that stand for several, such as R (A or G): everything a model says of a sequence with
// such symbols is what it says of the sequences they stand for, taken together.
#include "hqmm/data/symbol_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hqmm/engine/classical/edge_counts.hpp"
#include "hqmm/engine/classical/forward_backward.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/windows/window_likelihoods.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/retrodiction.hpp"
#include "hqmm/model/viterbi.hpp"
#include "support/engine.hpp"
#include "support/matrices.hpp"
#include "support/readings.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr std::uint64_t kSeed = 1707;

std::vector<AnyModel> models_of_every_kind(RandomStream& random) {
  std::vector<AnyModel> out{random_started_hmm(3, 4, random),
                            random_started_edge_hmm(3, 4, random)};
  for (const Shape& shape : of_every_kind({3, 4, 2})) out.emplace_back(random_hqmm(shape, random));
  out.emplace_back(random_positional_hqmm({2, 4, 2}, PositionMap::Anchor::kEnd, random));
  for (AnyModel& model : out) std::visit([](auto& m) { m.alphabet = Alphabet::dna(); }, model);
  return out;
}

TEST(SymbolSets, NumbersHaveNone) {
  RandomStream random(kSeed, Purpose::kTest, 0);
  Hmm numbers = random_started_hmm(2, 4, random);
  expect_error(ErrorCode::kBadData, "is 5, the model has 0..3", [&] {
    (void)fast_log_likelihoods(numbers, SequenceSet(Alphabet::integers(4), {{1, 5}}), 0, 1);
  });
}

TEST(SymbolSets, ProbabilitiesAreSumsOverWhatTheyStandFor) {
  for (std::uint64_t k = 1; k <= 10; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    const std::vector<Symbols> sequences{
        with_sets(5, random), random_symbols(6, 4, random), with_sets(1, random), {}};
    for (const AnyModel& model : models_of_every_kind(random)) {
      const auto found = fast_log_likelihoods(model, dna(sequences), 0, 1);
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        double sum = 0.0;
        for_each_reading(sequences[i], [&](const Symbols& reading) {
          sum += std::exp(log_likelihoods(model, dna({reading}), 0, 1)[0].log_likelihood);
        });
        EXPECT_NEAR(found[i].log_likelihood, std::log(sum), 1e-11);
        const auto missing = std::count(sequences[i].begin(), sequences[i].end(), kMissing);
        EXPECT_EQ(found[i].scored + static_cast<std::uint64_t>(missing), sequences[i].size());
      }
    }
  }
}

TEST(SymbolSets, ScoresDoNotDependOnOtherSequencesOrThreads) {
  RandomStream random(kSeed, Purpose::kTest, 20);
  std::vector<Symbols> sequences;
  for (std::size_t i = 0; i < 40; ++i)
    sequences.push_back(i % 3 == 0 ? with_sets(30, random) : random_symbols(30, 4, random));
  for (const AnyModel& model : models_of_every_kind(random)) {
    const auto one = fast_log_likelihoods(model, dna(sequences), 2, 1);
    const auto two = fast_log_likelihoods(model, dna(sequences), 2, 2);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      EXPECT_EQ(one[i].log_likelihood, two[i].log_likelihood);
      EXPECT_NEAR(one[i].log_likelihood,
                  log_likelihoods(model, dna({sequences[i]}), 2, 1)[0].log_likelihood, 1e-11);
    }
  }
}

TEST(SymbolSets, GradientsAreMeansOverWhatTheyStandFor) {
  for (std::uint64_t k = 30; k < 34; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    std::vector<Hqmm> models{
        random_positional_hqmm({2, 4, 1}, PositionMap::Anchor::kStart, random)};
    for (const Shape& shape : of_every_kind({3, 4, 2}))
      models.push_back(random_hqmm(shape, random));
    const std::vector<Symbols> sequences{random_symbols(5, 4, random), with_sets(4, random),
                                         random_symbols(3, 4, random), with_sets(5, random)};
    const std::vector<double> weights{1.0, 0.5, 2.0, 0.25};
    for (Hqmm& model : models) {
      model.alphabet = Alphabet::dna();
      const auto gradient_of = [&](const SequenceSet& set, const std::vector<double>& of) {
        GradientOptions options;
        options.want_initial_state = true;
        options.weights = of;
        return gradient(model, views(set), options, 1);
      };
      BatchGradient expected;
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        const double whole =
            fast_log_likelihoods(model, dna({sequences[i]}), 0, 1)[0].log_likelihood;
        for_each_reading(sequences[i], [&](const Symbols& reading) {
          const SequenceSet one = dna({reading});
          const double log_p = log_likelihoods(model, one, 0, 1)[0].log_likelihood;
          expected += gradient_of(one, {weights[i] * std::exp(log_p - whole)});
        });
      }
      const BatchGradient found = gradient_of(dna(sequences), weights);
      for (std::size_t set = 0; set < found.sets.size(); ++set)
        EXPECT_LT(distance(found.sets[set], expected.sets[set]), 1e-11);
      for (std::size_t set = 0; set < found.emissions.size(); ++set)
        EXPECT_LT(norm_distance(found.emissions[set], expected.emissions[set]), 1e-11);
      EXPECT_LT(norm_distance(found.initial_state, expected.initial_state), 1e-11);
    }
  }
}

TEST(SymbolSets, AnErrorNamesTheSequenceOfTheBatch) {
  RandomStream random(kSeed, Purpose::kTest, 40);
  Hqmm model = random_hqmm({2, 4, 1}, random);
  model.alphabet = Alphabet::dna();
  for (const Index y : {1, 3}) model.sets[0].op(y, 0).setZero();  // no C, no T, and so no Y
  const Symbol y = *Alphabet::dna().set_of('Y');
  const SequenceSet set = dna({{0, 2, 0}, {4, 2}, {0, 0, y}, {2}});
  try {
    (void)gradient(model, views(set), {}, 1);
    FAIL() << "the third sequence is impossible";
  } catch (const NotFiniteError& error) {
    EXPECT_EQ(error.place().sequence, 2U);
    EXPECT_EQ(error.place().position, 2U);
  }
}

TEST(SymbolSets, CountsOfEmAreMeansOverWhatTheyStandFor) {
  const auto never = [] { return false; };
  for (std::uint64_t k = 50; k < 60; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    Hmm hmm = random_started_hmm(3, 4, random);
    EdgeHmm edge = random_started_edge_hmm(3, 4, random);
    hmm.alphabet = edge.alphabet = Alphabet::dna();
    const Symbols symbols = with_sets(5, random);
    const Symbols known = random_symbols(7, 4, random);
    ExpectedCounts of_hmm = *expected_counts(hmm, dna({known}), 1, never);
    EdgeCounts of_edge = *expected_edges(edge, dna({known}), 1, never);
    const double whole_hmm = log_likelihoods(hmm, dna({symbols}), 0, 1)[0].log_likelihood;
    const double whole_edge = log_likelihoods(edge, dna({symbols}), 0, 1)[0].log_likelihood;
    for_each_reading(symbols, [&](const Symbols& reading) {
      const SequenceSet one = dna({reading});
      const double in_hmm = std::exp(log_likelihoods(hmm, one, 0, 1)[0].log_likelihood - whole_hmm);
      const double in_edge =
          std::exp(log_likelihoods(edge, one, 0, 1)[0].log_likelihood - whole_edge);
      const ExpectedCounts hmm_counts = *expected_counts(hmm, one, 1, never);
      const EdgeCounts edge_counts = *expected_edges(edge, one, 1, never);
      of_hmm.transitions += in_hmm * hmm_counts.transitions;
      of_hmm.emissions += in_hmm * hmm_counts.emissions;
      of_hmm.initial += in_hmm * hmm_counts.initial;
      for (std::size_t y = 0; y < 4; ++y) of_edge.edges[y] += in_edge * edge_counts.edges[y];
      of_edge.initial += in_edge * edge_counts.initial;
    });
    const SequenceSet both = dna({symbols, known});
    const ExpectedCounts found = *expected_counts(hmm, both, 1, never);
    EXPECT_LT(norm_distance(found.transitions, of_hmm.transitions), 1e-11);
    EXPECT_LT(norm_distance(found.emissions, of_hmm.emissions), 1e-11);
    EXPECT_LT(norm_distance(found.initial, of_hmm.initial), 1e-11);
    EXPECT_NEAR(found.log_likelihood, of_hmm.log_likelihood + whole_hmm, 1e-11);
    EXPECT_EQ(found.scored,
              of_hmm.scored + 5 -
                  static_cast<std::size_t>(std::count(symbols.begin(), symbols.end(), kMissing)));
    const EdgeCounts found_edge = *expected_edges(edge, both, 1, never);
    for (std::size_t y = 0; y < 4; ++y)
      EXPECT_LT(norm_distance(found_edge.edges[y], of_edge.edges[y]), 1e-11);
    EXPECT_LT(norm_distance(found_edge.initial, of_edge.initial), 1e-11);
    EXPECT_NEAR(found_edge.log_likelihood, of_edge.log_likelihood + whole_edge, 1e-11);
    EXPECT_EQ(found_edge.scored, found.scored);
  }
}

TEST(SymbolSets, SmoothedStatesAreMeansOverWhatTheyStandFor) {
  for (std::uint64_t k = 60; k < 70; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    const Symbols symbols = with_sets(5, random);
    const SequenceSet set = dna({symbols});
    const Hmm hmm = random_started_hmm(3, 4, random);
    const EdgeHmm edge = random_started_edge_hmm(3, 4, random);
    const StatePosteriors of_hmm = state_posteriors(hmm, set[0]);
    const StatePosteriors of_edge = state_posteriors(edge, set[0]);
    RealMatrix hmm_mean = RealMatrix::Zero(3, 5);
    RealMatrix edge_mean = RealMatrix::Zero(3, 5);
    for_each_reading(symbols, [&](const Symbols& reading) {
      const SequenceSet one = dna({reading});
      const StatePosteriors in_hmm = state_posteriors(hmm, one[0]);
      const StatePosteriors in_edge = state_posteriors(edge, one[0]);
      hmm_mean += std::exp(in_hmm.log_likelihood - of_hmm.log_likelihood) * in_hmm.states;
      edge_mean += std::exp(in_edge.log_likelihood - of_edge.log_likelihood) * in_edge.states;
    });
    EXPECT_LT(norm_distance(of_hmm.states, hmm_mean), 1e-11);
    EXPECT_LT(norm_distance(of_edge.states, edge_mean), 1e-11);
  }
}

TEST(SymbolSets, EffectsOfTheFutureAreSums) {
  for (std::uint64_t k = 70; k < 74; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    const Symbols symbols = with_sets(5, random, 0.0);
    for (const Shape& shape : of_every_kind({2, 4, 2})) {
      const Hqmm model = random_hqmm(shape, random);
      const SequenceSet set = dna({symbols});
      Matrix effect = Matrix::Identity(2, 2);
      std::vector<Matrix> expected(symbols.size());
      for (std::size_t t = symbols.size(); t-- > 0;) {
        expected[t] = effect;
        Matrix earlier = Matrix::Zero(2, 2);
        for_each_reading({symbols[t]}, [&](const Symbols& one) {
          earlier += model.sets[0].apply_adjoint(one[0], effect);
        });
        effect = earlier;
      }
      retrodict(model, set[0], [&](std::size_t t, const PastQuantumState& pair) {
        EXPECT_LT(norm_distance(Matrix(pair.effect / pair.effect.trace().real()),
                                Matrix(expected[t] / expected[t].trace().real())),
                  1e-11);
      });
    }
  }
}

TEST(SymbolSets, ThePathIsTheBestOfThoseOfTheSums) {
  for (std::uint64_t k = 80; k < 90; ++k) {
    RandomStream random(kSeed, Purpose::kTest, k);
    const Symbols symbols = with_sets(6, random, 0.0);
    const SequenceSet set = dna({symbols});
    // an alphabet in which every place of the sequence has a symbol of its own, that of the sum
    EdgeHmm edge = random_started_edge_hmm(3, 4, random);
    EdgeHmm summed = edge;
    Hmm hmm = random_started_hmm(3, 4, random);
    Hmm summed_hmm = hmm;
    summed.edges.clear();
    summed_hmm.emission.resize(static_cast<Index>(symbols.size()), 3);
    Symbols places;
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      RealMatrix step = RealMatrix::Zero(3, 3);
      RealVector emission = RealVector::Zero(3);
      for_each_reading({symbols[t]}, [&](const Symbols& one) {
        step += edge.edges[one[0]];
        emission += hmm.emission.row(one[0]).transpose();
      });
      summed.edges.push_back(step);
      summed_hmm.emission.row(static_cast<Index>(t)) = emission.transpose();
      places.push_back(static_cast<Symbol>(t));
    }
    summed.alphabet = summed_hmm.alphabet = Alphabet::integers(symbols.size());
    const SequenceSet by_place(summed.alphabet, {places});
    const StatePath found = most_probable_path(edge, set[0]);
    const StatePath expected = most_probable_path(summed, by_place[0]);
    EXPECT_EQ(found.states, expected.states);
    EXPECT_NEAR(found.log_probability, expected.log_probability, 1e-11);
    const StatePath found_hmm = most_probable_path(hmm, set[0]);
    const StatePath expected_hmm = most_probable_path(summed_hmm, by_place[0]);
    EXPECT_EQ(found_hmm.states, expected_hmm.states);
    EXPECT_NEAR(found_hmm.log_probability, expected_hmm.log_probability, 1e-11);
  }
}

TEST(SymbolSets, WindowsAreSequencesOfTheirOwn) {
  RandomStream random(kSeed, Purpose::kTest, 90);
  constexpr std::size_t kWindow = 12;
  constexpr std::size_t kCount = 50;
  Symbols symbols = random_symbols(kWindow + kCount - 1, 4, random, 0.05);
  for (std::size_t t = 0; t < symbols.size(); t += 9)
    symbols[t] = static_cast<Symbol>(4 + random.below(10));
  for (const AnyModel& model : models_of_every_kind(random)) {
    const WindowLikelihoods windows(model, kWindow, 1);
    WindowTile tile(symbols, 4, kWindow, 1, kCount);
    std::vector<double> found(kCount);
    windows.score(tile, found);
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto at = symbols.begin() + static_cast<std::ptrdiff_t>(i);
      const SequenceSet one = dna({Symbols(at, at + kWindow)});
      EXPECT_NEAR(found[i], log_likelihoods(model, one, 0, 1)[0].log_likelihood, 1e-10);
    }
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
