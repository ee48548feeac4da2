// Scanning against the definition: every window a sequence of its own.
#include "hqmm/evaluate/scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/evaluate/scan_parts.hpp"
#include "hqmm/evaluate/scan_stretch.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

Classifier random_classifier(std::size_t window, Index classes = 3) {
  RandomStream random(11, Purpose::kTest);
  Classifier out;
  for (Index c = 0; c < classes; ++c) {
    Hqmm model;
    model.alphabet = Alphabet::dna();
    model.positions = PositionMap::each(window);
    for (std::size_t t = 0; t < window; ++t) model.sets.push_back(random_kraus(4, 2, 2, random));
    model.initial_state = maximally_mixed(2);
    out.models.emplace_back(std::move(model));
    out.classes.emplace_back(1, static_cast<char>('a' + c));
    out.priors.push_back(c == 0 ? 0.5 : 0.5 / static_cast<double>(classes - 1));
  }
  return out;
}

SequenceSet random_dna(const std::vector<std::size_t>& lengths, double missing = 0.0) {
  RandomStream random(13, Purpose::kTest);
  SequenceSet out(Alphabet::dna());
  for (const std::size_t length : lengths) {
    for (std::size_t t = 0; t < length; ++t)
      out.push_back(random.uniform() < missing ? kMissing : static_cast<Symbol>(random.below(4)));
    out.end_sequence();
  }
  return out;
}

/// All hits, by the definition.
std::vector<ScanHit> naive_hits(const Classifier& classifier, const SequenceSet& data,
                                std::size_t window, const ScanOptions& options) {
  std::vector<ScanHit> out;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t begin = 0; begin + window <= data[i].size(); begin += options.step) {
      const std::vector<Symbol> forward = data[i].part(begin, window).to_vector();
      if (std::all_of(forward.begin(), forward.end(), [](Symbol y) { return y == kMissing; }))
        continue;
      for (const bool reverse : {false, true}) {
        if (options.strands == (reverse ? Strands::kForward : Strands::kReverse)) continue;
        std::vector<Symbol> symbols = forward;
        if (reverse) {
          std::reverse(symbols.begin(), symbols.end());
          for (Symbol& y : symbols)
            if (y != kMissing) y = static_cast<Symbol>(3 - y);
        }
        const Posteriors found =
            posteriors_of(classifier, SequenceSet(data.alphabet(), {symbols}), 1);
        for (std::uint32_t c = 0; c < classifier.classes.size(); ++c) {
          double others = 0.0;
          for (std::uint32_t d = 0; d < classifier.classes.size(); ++d)
            if (d != c) others += std::exp(found.row(0)[d]);
          const double odds = (found.row(0)[c] - std::log(others)) / std::log(2.0);
          if (odds >= options.least) out.push_back({i, begin, c, reverse, odds});
        }
      }
    }
  }
  return out;
}

void expect_same_hits(const std::vector<ScanHit>& found, const std::vector<ScanHit>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].sequence, expected[i].sequence);
    EXPECT_EQ(found[i].begin, expected[i].begin);
    EXPECT_EQ(found[i].label, expected[i].label);
    EXPECT_EQ(found[i].reverse, expected[i].reverse);
    EXPECT_NEAR(found[i].log_odds, expected[i].log_odds, 1e-10);
  }
}

TEST(Scan, FindsWhatTheClassifierSaysOfEveryWindow) {
  const Classifier classifier = random_classifier(17);
  const SequenceSet data = random_dna({120, 16, 17, 1, 60}, 0.02);
  for (const Strands strands : {Strands::kForward, Strands::kReverse, Strands::kBoth}) {
    for (const std::size_t step : {1, 5}) {
      ScanOptions options;
      options.strands = strands;
      options.step = step;
      expect_same_hits(scan(classifier, data, options), naive_hits(classifier, data, 17, options));
      options.least = 2.0;
      expect_same_hits(scan(classifier, data, options), naive_hits(classifier, data, 17, options));
    }
  }
}

TEST(Scan, LeavesOutWindowsWithoutAKnownSymbol) {
  const Classifier classifier = random_classifier(5);
  SequenceSet data(Alphabet::dna());
  for (int t = 0; t < 30; ++t) data.push_back(t == 3 || t > 20 ? Symbol{2} : kMissing);
  data.end_sequence();
  const auto found = scan(classifier, data);
  expect_same_hits(found, naive_hits(classifier, data, 5, {}));
  EXPECT_EQ(found.size(), 3U * (26 - 13));  // those that begin at 4 to 16 have nothing
}

TEST(Scan, TopKeepsTheBestOfEveryClass) {
  const Classifier classifier = random_classifier(9);
  const SequenceSet data = random_dna({400, 300});
  ScanOptions options;
  options.strands = Strands::kBoth;
  const auto all = scan(classifier, data, options);
  options.top = 7;
  std::vector<ScanHit> expected;
  for (std::uint32_t c = 0; c < 3; ++c) {
    std::vector<ScanHit> of_class;
    for (const ScanHit& hit : all)
      if (hit.label == c) of_class.push_back(hit);
    std::sort(of_class.begin(), of_class.end(), is_better);
    expected.insert(expected.end(), of_class.begin(), of_class.begin() + 7);
  }
  std::sort(expected.begin(), expected.end(), comes_before);
  EXPECT_EQ(scan(classifier, data, options), expected);
  options.classes = {2};
  std::erase_if(expected, [](const ScanHit& hit) { return hit.label != 2; });
  EXPECT_EQ(scan(classifier, data, options), expected);
}

TEST(Scan, DistinctHitsAreTheBestOfThoseThatOverlapThem) {
  const Classifier classifier = random_classifier(9);
  const SequenceSet data = random_dna({400, 300});
  ScanOptions options;
  options.strands = Strands::kBoth;
  options.least = -1.0;
  const auto all = scan(classifier, data, options);
  std::vector<ScanHit> expected;
  for (const ScanHit& hit : all) {
    const bool beaten = std::any_of(all.begin(), all.end(), [&](const ScanHit& other) {
      return other.sequence == hit.sequence && other.label == hit.label &&
             std::max(other.begin, hit.begin) - std::min(other.begin, hit.begin) < 9 &&
             is_better(other, hit);
    });
    if (!beaten) expected.push_back(hit);
  }
  ASSERT_GT(expected.size(), 10U);
  ASSERT_LT(expected.size(), all.size() / 3);
  options.distinct = true;
  EXPECT_EQ(scan(classifier, data, options), expected);
}

/// Longer than a block, in pieces: what a stream does.
std::vector<ScanHit> in_pieces(const Classifier& classifier, const SequenceSet& data,
                               const ScanOptions& options, std::size_t piece) {
  std::vector<ScanHit> out;
  ScanSinks sinks;
  sinks.on_hits = [&](std::span<const ScanHit> hits) {
    out.insert(out.end(), hits.begin(), hits.end());
  };
  Scanner scanner(classifier, options, sinks);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t t = 0; t < data[i].size(); t += piece)
      scanner.take(data[i].part(t, std::min(piece, data[i].size() - t)));
    scanner.end_sequence();
  }
  scanner.finish();
  EXPECT_EQ(scanner.sequences(), data.size());
  return out;
}

TEST(Scan, NeitherPiecesNorThreadsNorBlocksMatter) {
  const Classifier classifier = random_classifier(30, 2);
  const SequenceSet data = random_dna({700, 1'200'000, 40'000});
  ScanOptions options;
  options.strands = Strands::kBoth;
  options.step = 7;
  options.classes = {1};
  options.threads = 1;
  for (const bool distinct : {false, true}) {
    options.distinct = distinct;
    options.least = 9.0;
    options.top = 0;
    const auto expected = scan(classifier, data, options);
    ASSERT_GT(expected.size(), 20U);
    options.threads = 4;
    EXPECT_EQ(in_pieces(classifier, data, options, 70'001), expected);
    options.top = 10;
    std::vector<ScanHit> best = expected;
    std::sort(best.begin(), best.end(), is_better);
    best.resize(10);
    std::sort(best.begin(), best.end(), comes_before);
    EXPECT_EQ(in_pieces(classifier, data, options, 300'000), best);
  }
}

TEST(Scan, ATrackHasTheBetterStrandOfEveryWindow) {
  const Classifier classifier = random_classifier(12);
  SequenceSet data = random_dna({5'000, 11, 40});
  ScanOptions options;
  options.strands = Strands::kBoth;
  options.classes = {1};
  std::vector<double> expected;
  for (const ScanHit& hit : scan(classifier, data, options)) {
    if (hit.reverse) {
      expected.back() = std::max(expected.back(), hit.log_odds);
    } else {
      expected.push_back(hit.log_odds);
    }
  }
  std::vector<double> found;
  ScanSinks sinks;
  sinks.on_track = [&](const ScanTrack& track) {
    found.insert(found.end(), track.log_odds.begin(), track.log_odds.end());
  };
  Scanner scanner(classifier, options, sinks);
  for (std::size_t i = 0; i < data.size(); ++i) {
    scanner.take(data[i]);
    scanner.end_sequence();
  }
  scanner.finish();
  EXPECT_EQ(found, expected);
}

TEST(Scan, AModelAgainstItsBackground) {
  RandomStream random(17, Purpose::kTest);
  const Hmm model = random_hmm(Alphabet::dna(), 3, random);
  const std::vector<std::uint64_t> counts{9, 19, 29, 39};
  const Hmm background = independent_symbols(Alphabet::dna(), counts, Strands::kForward);
  EXPECT_DOUBLE_EQ(background.emission(2, 0), 0.3);
  EXPECT_DOUBLE_EQ(independent_symbols(Alphabet::dna(), counts, Strands::kBoth).emission(2, 0),
                   0.25);
  const SequenceSet data = random_dna({50});
  ScanOptions options;
  options.window = 50;
  options.classes = {1};
  const auto found = scan(against_background(model, background), data, options);
  ASSERT_EQ(found.size(), 1U);
  const double expected = log_likelihoods(model, data, 0, 1)[0].log_likelihood -
                          log_likelihoods(background, data, 0, 1)[0].log_likelihood;
  EXPECT_NEAR(found[0].log_odds, expected / std::log(2.0), 1e-10);
}

TEST(Scan, SaysWhatDoesNotFit) {
  const SequenceSet data = random_dna({50});
  const auto scanned_with = [&](const Classifier& classifier, const ScanOptions& options) {
    return [&, options] { static_cast<void>(scan(classifier, data, options)); };
  };
  const Classifier classifier = random_classifier(10);
  ScanOptions options;
  options.window = 11;
  testing::expect_error(ErrorCode::kUsage, "made for windows of 10 symbols",
                        scanned_with(classifier, options));
  RandomStream random(19, Purpose::kTest);
  const Classifier stationary = against_background(random_hmm(Alphabet::dna(), 2, random),
                                                   random_hmm(Alphabet::dna(), 2, random));
  testing::expect_error(ErrorCode::kUsage, "does not set the length of a window",
                        scanned_with(stationary, {}));
  options = {};
  options.step = 0;
  testing::expect_error(ErrorCode::kUsage, "at least 1", scanned_with(classifier, options));
  options = {};
  options.classes = {3};
  testing::expect_error(ErrorCode::kUsage, "there is no class 3",
                        scanned_with(classifier, options));
  EXPECT_EQ(own_length(classifier), 10U);
  EXPECT_FALSE(own_length(stationary));
  Classifier mixed = random_classifier(10);
  mixed.models[1] = random_classifier(12).models[0];
  testing::expect_error(ErrorCode::kBadData, "of 10 and of 12 symbols", scanned_with(mixed, {}));
}

TEST(Scan, OddsAndProbabilitiesGoBothWays) {
  for (const double p : {0.0, 0.001, 0.5, 0.999})
    EXPECT_NEAR(probability_of(log_odds_of(p)), p, 1e-15);
}

}  // namespace
}  // namespace hqmm::detail
