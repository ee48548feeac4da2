// The baselines: proper distributions, exact marginals, and the known figure on splice junctions.
#include "hqmm/evaluate/baselines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hqmm/data/folds.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/learn/class_labels.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

using Kind = BaselineOptions::Kind;

std::vector<BaselineOptions> every_kind() {
  std::vector<BaselineOptions> out;
  for (const Kind kind : {Kind::kPositionWeights, Kind::kPositionalChain, Kind::kMarkovChain}) {
    for (const bool from_end : {false, true})
      for (const std::size_t order : {0UL, 2UL}) out.push_back({kind, order, 0.5, from_end});
  }
  return out;
}

/// Ragged, with missing symbols.
SequenceSet ragged() {
  return SequenceSet(Alphabet::integers(3),
                     {{0, 1, 2, 1}, {2, 2}, {0, kMissing, 1, 1, 2}, {1}, {0, 1, 0, 1, 0}});
}

std::vector<std::uint32_t> all_rows(const SequenceSet& set) {
  std::vector<std::uint32_t> out(set.size());
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

double probability(const FrequencyModel& model, const std::vector<Symbol>& symbols) {
  const SequenceSet one(Alphabet::integers(3), {symbols});
  return std::exp(model.log_likelihood(one[0]));
}

TEST(Baselines, SumToOneAtEveryLength) {
  const SequenceSet data = ragged();
  for (const BaselineOptions& options : every_kind()) {
    const FrequencyModel model(data, all_rows(data), options);
    for (const std::size_t length : {1UL, 3UL, 5UL, 7UL}) {  // 7: longer than any that was seen
      const double sum = sum_over_sequences(
          length, 3, [&](const std::vector<Symbol>& x) { return probability(model, x); });
      EXPECT_NEAR(sum, 1.0, 1e-10) << options.name() << options.from_end << length;
    }
  }
}

TEST(Baselines, MissingSymbolsAreSummedOver) {
  const SequenceSet data = ragged();
  const std::vector<Symbol> holes{kMissing, 1, kMissing, kMissing, 2, 0};
  for (const BaselineOptions& options : every_kind()) {
    const FrequencyModel model(data, all_rows(data), options);
    const double sum = sum_over_missing(
        holes, 3, [&](const std::vector<Symbol>& x) { return probability(model, x); });
    EXPECT_NEAR(probability(model, holes), sum, 1e-12) << options.name() << options.from_end;
  }
}

TEST(Baselines, CountsWithPseudoCounts) {
  const SequenceSet data(Alphabet::integers(2), {{0, 1}, {0, 0}, {1, 1}});
  const FrequencyModel weights(data, all_rows(data), {Kind::kPositionWeights, 0, 1.0, false});
  const auto p = [](const FrequencyModel& model, std::vector<Symbol> x) {
    const SequenceSet one(Alphabet::integers(2), {std::move(x)});
    return std::exp(model.log_likelihood(one[0]));
  };
  EXPECT_NEAR(p(weights, {0, 1}), 3.0 / 5 * 3.0 / 5, 1e-12);
  const FrequencyModel chain(data, all_rows(data), {Kind::kPositionalChain, 0, 1.0, false});
  EXPECT_NEAR(p(chain, {0, 1}), 3.0 / 5 * (1 + 2 * 3.0 / 5) / 4, 1e-12);
  EXPECT_NEAR(p(chain, {1, 1}), 2.0 / 5 * (1 + 2 * 3.0 / 5) / 3, 1e-12);
}

TEST(Baselines, AnchoredAtTheEndSeesTheEnd) {
  // The last symbol is always 2, whatever the length.
  const SequenceSet data(Alphabet::integers(3), {{0, 1, 2}, {2}, {1, 0, 1, 2}, {0, 2}});
  const FrequencyModel from_end(data, all_rows(data), {Kind::kPositionWeights, 0, 0.01, true});
  const FrequencyModel from_start(data, all_rows(data), {Kind::kPositionWeights, 0, 0.01, false});
  const SequenceSet query(Alphabet::integers(3), {{0, 0, 2}});
  EXPECT_GT(from_end.log_likelihood(query[0]), from_start.log_likelihood(query[0]) + 0.3);
}

TEST(Baselines, AnOrderThatWouldNotFitIsCut) {
  const SequenceSet data(Alphabet::protein(), {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}});
  const FrequencyModel model(data, {0}, {Kind::kMarkovChain, 16, 1.0, false});
  EXPECT_TRUE(std::isfinite(model.log_likelihood(data[0])));
}

TEST(Baselines, PositionWeightsOnSpliceJunctions) {
  HQMM_SHARED_OR_SKIP(path, "data/splice/splice.data");
  ReadOptions read;
  read.ambiguous = Ambiguous::kDrop;
  const SequenceSet data = read_sequences(path.string(), read);
  const OrderedClasses classes = ordered_classes(data);
  const auto fold_of = make_folds(data, 5, {Grouping::Kind::kIdentical, 0}, 1);
  Posteriors found(data.size(), classes.names.size());
  for (std::uint32_t fold = 0; fold < 5; ++fold) {
    for (std::uint32_t c = 0; c < classes.names.size(); ++c) {
      std::vector<std::uint32_t> train;
      for (std::uint32_t i = 0; i < data.size(); ++i)
        if (fold_of[i] != fold && classes.labels[i] == c) train.push_back(i);
      const FrequencyModel model(data, train, {});
      for (std::uint32_t i = 0; i < data.size(); ++i)
        if (fold_of[i] == fold) found.row(i)[c] = model.log_likelihood(data[i]);
    }
  }
  const Classification figures = judge(found, classes.labels, std::vector<double>(3, 1.0 / 3));
  EXPECT_NEAR(figures.mean_class_error.value, 0.048, 0.003);
}

}  // namespace
}  // namespace hqmm::detail::testing
