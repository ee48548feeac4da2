// Contributions, against scoring the sequence again without the position.
#include "hqmm/evaluate/explain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/evaluate/cross_validation.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

double log_odds(const Classifier& classifier, const std::vector<Symbol>& x, std::size_t c) {
  const SequenceSet one(classifier.alphabet(), {x});
  const Posteriors found = posteriors_of(classifier, one, 1);
  double others = 0.0;
  for (std::size_t d = 0; d < classifier.classes.size(); ++d)
    if (d != c) others += std::exp(found.row(0)[d]);
  return found.row(0)[c] - std::log(others);
}

/// An HMM, a stationary model and position-dependent ones from either end.
Classifier mixed_classifier() {
  RandomStream random(4, Purpose::kTest);
  const Shape shape{2, 3, 2};
  Classifier out;
  out.classes = {"a", "b", "c", "d"};
  out.models.emplace_back(random_started_hmm(3, 3, random));
  out.models.emplace_back(random_hqmm(shape, random));
  out.models.emplace_back(random_positional_hqmm(shape, PositionMap::Anchor::kStart, random));
  out.models.emplace_back(random_positional_hqmm(shape, PositionMap::Anchor::kEnd, random));
  out.priors = {0.1, 0.2, 0.3, 0.4};
  return out;
}

TEST(Contributions, AreTheLogOddsWithAndWithoutThePosition) {
  const Classifier classifier = mixed_classifier();
  RandomStream random(5, Purpose::kTest);
  for (const std::size_t length : {1UL, 4UL, 9UL}) {
    const std::vector<Symbol> x = random_symbols(length, 3, random, 0.2);
    const SequenceSet one(classifier.alphabet(), {x});
    const std::vector<double> found = contributions(classifier, one[0]);
    for (std::size_t t = 0; t < length; ++t) {
      std::vector<Symbol> without = x;
      without[t] = kMissing;
      for (std::size_t c = 0; c < 4; ++c) {
        const double expected = log_odds(classifier, x, c) - log_odds(classifier, without, c);
        EXPECT_NEAR(found[t * 4 + c], expected, 1e-9) << length << ' ' << t << ' ' << c;
      }
    }
  }
}

TEST(Contributions, OfLongSequencesAreFinite) {
  const Classifier classifier = mixed_classifier();
  RandomStream random(6, Purpose::kTest);
  const SequenceSet one(classifier.alphabet(), {random_symbols(3000, 3, random)});
  for (const double value : contributions(classifier, one[0])) EXPECT_TRUE(std::isfinite(value));
}

TEST(Contributions, AnInfeasibleModelIsRefused) {
  Classifier classifier = mixed_classifier();
  std::get<Hqmm>(classifier.models[1]).sets[0].gamma() *= 1.1;
  const SequenceSet one(classifier.alphabet(), {{0, 1}});
  expect_error(ErrorCode::kBadData, "trace preserving",
               [&] { (void)contributions(classifier, one[0]); });
}

/// Class "one" has symbol 1 after position 2 of 5 nine times in ten; all else is even.
Classifier marked_classifier(PositionMap::Anchor anchor) {
  Classifier out;
  out.classes = {"even", "one"};
  for (const double mark : {0.5, 0.9}) {
    Hqmm model;
    model.alphabet = Alphabet::integers(2);
    model.initial_state = maximally_mixed(1);
    for (const double p : {0.5, mark}) {
      Stack gamma(2, 1);
      gamma << std::sqrt(1.0 - p), std::sqrt(p);
      model.sets.emplace_back(2, 1, gamma);
    }
    model.positions = PositionMap({0, 0, 1, 0, 0}, anchor);
    out.models.emplace_back(model);
  }
  out.priors = {0.5, 0.5};
  return out;
}

TEST(Explanation, FindsTheMarkFromEitherEnd) {
  const std::vector<std::uint32_t> labels{1, 1, 0};
  const SequenceSet start(Alphabet::integers(2),
                          {{0, 0, 1, 0, 1}, {1, 0, 1, 1, 1}, {1, 1, 0, 0, 0}});
  Explanation from_start({"even", "one"}, start.alphabet(), false);
  from_start.add(marked_classifier(PositionMap::Anchor::kStart), start, labels, 100, 1);
  const auto strongest = from_start.strongest(1, 1).front();
  EXPECT_EQ(from_start.position_name(strongest.place), 2);
  EXPECT_EQ(strongest.symbol, 1);
  EXPECT_NEAR(strongest.mean, std::log(0.9 / 0.5), 1e-9);
  EXPECT_DOUBLE_EQ(strongest.symbol_share, 1.0);
  EXPECT_NEAR(from_start.all(1, 2, 0).mean(), std::log(0.1 / 0.5), 1e-9);
  EXPECT_EQ(from_start.all(1, 2, 0).rows, 1U);
  EXPECT_EQ(from_start.own(1, 2).rows, 2U);
  EXPECT_NEAR(from_start.own(1, 0).mean(), 0.0, 1e-12);

  const SequenceSet end(Alphabet::integers(2), {{0, 0, 1, 0, 1}, {1, 1, 1}, {1, 1, 0, 0, 0}});
  Explanation from_end({"even", "one"}, end.alphabet(), true);
  from_end.add(marked_classifier(PositionMap::Anchor::kEnd), end, labels, 100, 2);
  EXPECT_EQ(from_end.position_name(from_end.strongest(1, 1).front().place), -3);
}

TEST(Explanation, TakesNoMoreRowsThanAllowed) {
  const SequenceSet data(Alphabet::integers(2), {{0, 0, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}});
  Explanation explanation({"even", "one"}, data.alphabet(), false);
  explanation.add(marked_classifier(PositionMap::Anchor::kStart), data,
                  std::vector<std::uint32_t>{1, 1, 0, 0}, 2, 1);
  EXPECT_EQ(explanation.rows(), 2U);
}

}  // namespace
}  // namespace hqmm::detail::testing
