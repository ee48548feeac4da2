// Nested cross-validation: right on clear classes, blind to the rows it scores, and sound when a
// class is too small.
#include "hqmm/evaluate/cross_validation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/random.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr std::size_t kLength = 12;

/// Class k of `counts` has symbol k at three positions in four rows of five.
SequenceSet made_up(const std::vector<std::size_t>& counts, std::uint64_t seed = 1) {
  RandomStream random(seed, Purpose::kTest);
  SequenceSet out(Alphabet::dna());
  for (std::size_t c = 0; c < counts.size(); ++c) {
    for (std::size_t i = 0; i < counts[c]; ++i) {
      for (std::size_t t = 0; t < kLength; ++t) {
        const bool marked = t >= 5 && t < 8 && random.uniform() < 0.8;
        out.push_back(static_cast<Symbol>(marked ? c : random.below(4)));
      }
      out.end_sequence_labelled(std::string(1, static_cast<char>('z' - c)));  // not in byte order
    }
  }
  return out;
}

ClassifierOptions quick() {
  ClassifierOptions out;
  out.positions = PositionPlan::parse("each");
  out.train.latent_dim = 2;
  out.train.kraus_rank = 1;
  out.train.epochs = 3;
  out.train.batch_size = 20;
  out.train.step_size = 0.01;
  return out;
}

std::vector<ClassifierSetting> two_settings() {
  return parse_grid("positions=stationary,each", quick());
}

CrossValidationOptions how(int threads = 1) {
  CrossValidationOptions out;
  out.folds = 3;
  out.inner_folds = 2;
  out.threads = threads;
  out.baselines = {BaselineOptions{}};
  return out;
}

void expect_same(const Posteriors& a, const Posteriors& b, const std::vector<std::uint32_t>& rows) {
  for (const std::uint32_t i : rows)
    for (std::size_t c = 0; c < a.classes(); ++c) EXPECT_EQ(a.row(i)[c], b.row(i)[c]) << i;
}

TEST(CrossValidation, TellsClearClassesApart) {
  const CrossValidation found = cross_validate(made_up({40, 40, 20}), two_settings(), how());
  EXPECT_EQ(found.classes, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_LT(found.figures.mean_class_error.value, 0.2);
  EXPECT_LT(found.baselines.front().figures.mean_class_error.value, 0.2);
  ASSERT_EQ(found.folds.size(), 3U);
  std::size_t rows = 0;
  for (const FoldOutcome& fold : found.folds) {
    rows += fold.rows;
    ASSERT_EQ(fold.inner.size(), 2U);
    EXPECT_LT(fold.inner[1].log_loss, fold.inner[0].log_loss);
    EXPECT_EQ(fold.setting, 1U);
    EXPECT_TRUE(fold.unlearned.empty());
    ASSERT_TRUE(fold.classifier.has_value());
  }
  EXPECT_EQ(rows, 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    double sum = 0.0;
    for (const double log : found.posteriors.row(i)) sum += std::exp(log);
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(CrossValidation, TheScoredFoldHasNoPartInItsOwnPredictions) {
  const SequenceSet data = made_up({30, 30});
  const auto fold_of = make_folds(data, 3, {Grouping::Kind::kIdentical, 0}, 1);
  const CrossValidation before = cross_validate(data, fold_of, two_settings(), how());
  for (std::uint32_t scored = 0; scored < 3; ++scored) {
    SequenceSet changed(data.alphabet());
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < data.size(); ++i) {
      for (std::size_t t = 0; t < data[i].size(); ++t) changed.push_back(data[i][t]);
      const bool inside = fold_of[i] == scored;
      const std::uint32_t label = inside ? 1 - data.label(i) : data.label(i);
      changed.end_sequence_labelled(data.classes()[label]);
      if (inside) rows.push_back(i);
    }
    const CrossValidation after = cross_validate(changed, fold_of, two_settings(), how());
    expect_same(before.posteriors, after.posteriors, rows);
    expect_same(before.baselines[0].posteriors, after.baselines[0].posteriors, rows);
    EXPECT_EQ(before.folds[scored].setting, after.folds[scored].setting);
    // The test can fail: other folds learn from these rows.
    EXPECT_NE(before.figures.log_loss, after.figures.log_loss);
    std::size_t moved = 0;
    for (std::uint32_t i = 0; i < data.size(); ++i)
      if (before.posteriors.row(i)[0] != after.posteriors.row(i)[0]) ++moved;
    EXPECT_GT(moved, 0U);
  }
}

TEST(CrossValidation, SameNumbersAtAnyThreadCount) {
  const SequenceSet data = made_up({20, 25, 15});
  const CrossValidation one = cross_validate(data, two_settings(), how(1));
  const CrossValidation two = cross_validate(data, two_settings(), how(2));
  std::vector<std::uint32_t> rows(data.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  expect_same(one.posteriors, two.posteriors, rows);
}

TEST(CrossValidation, AClassOfOneIsAnErrorAndNoCrash) {
  const CrossValidation found = cross_validate(made_up({20, 20, 1}), two_settings(), how());
  EXPECT_EQ(found.classes[0], "x");
  EXPECT_DOUBLE_EQ(found.figures.class_errors[0]->value, 1.0);
  std::size_t unlearned = 0;
  for (const FoldOutcome& fold : found.folds) unlearned += fold.unlearned.size();
  EXPECT_EQ(unlearned, 1U);
  for (std::size_t i = 0; i < 41; ++i) EXPECT_GT(found.posteriors.confidence(i), 0.0);
}

TEST(CrossValidation, OneClassLeftIsWhatEveryRowIsTakenFor) {
  const CrossValidation found = cross_validate(made_up({12, 1}), two_settings(), how());
  EXPECT_DOUBLE_EQ(found.figures.class_errors[0]->value, 1.0);  // "y", the single one
  for (std::uint32_t f = 0; f < 3; ++f) {
    if (found.folds[f].unlearned.empty()) continue;
    EXPECT_FALSE(found.folds[f].classifier.has_value());
    for (std::size_t i = 0; i < 13; ++i) {
      if (found.fold_of[i] != f) continue;
      EXPECT_EQ(found.posteriors.row(i)[1], 0.0);
    }
  }
}

TEST(CrossValidation, GivenPriorsAreSharedAmongTheClassesThatAreThere) {
  ClassifierOptions options = quick();
  options.prior = PriorKind::kGiven;
  options.given_priors = {0.2, 0.3, 0.5};
  const CrossValidation found = cross_validate(made_up({12, 12, 1}), {{"", options}}, how());
  for (const FoldOutcome& fold : found.folds) {
    ASSERT_TRUE(fold.classifier.has_value());
    if (fold.unlearned.empty()) continue;
    EXPECT_NEAR(fold.classifier->priors[0], 0.3 / 0.8, 1e-12);
  }
}

TEST(CrossValidation, AHeldOutShareInsteadOfInnerFolds) {
  CrossValidationOptions options = how();
  options.inner_folds = 1;
  const CrossValidation found = cross_validate(made_up({30, 30}), two_settings(), options);
  for (const FoldOutcome& fold : found.folds) EXPECT_EQ(fold.inner.size(), 2U);
}

TEST(CrossValidation, StopsWhenAsked) {
  CrossValidationHooks hooks;
  hooks.stop_requested = [] { return true; };
  expect_error(ErrorCode::kInterrupted, "interrupted", [&] {
    (void)cross_validate(made_up({10, 10}), two_settings(), how(), hooks);
  });
}

TEST(CrossValidation, ProgressEndsAtOne) {
  double last = 0.0;
  CrossValidationHooks hooks;
  hooks.on_progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  (void)cross_validate(made_up({10, 10}), two_settings(), how(), hooks);
  EXPECT_NEAR(last, 1.0, 1e-9);
}

TEST(CrossValidation, DataThatCannotBeClassifiedIsSaid) {
  expect_error(ErrorCode::kBadData, "no classes", [&] {
    (void)cross_validate(SequenceSet(Alphabet::dna(), {{0, 1}, {1, 2}}), two_settings(), how());
  });
  expect_error(ErrorCode::kBadData, "all sequences are of class 'z'",
               [&] { (void)cross_validate(made_up({10}), two_settings(), how()); });
}

TEST(SelectSetting, ChoosesAsAFoldDoes) {
  const FoldOutcome found = select_setting(made_up({30, 30}), two_settings(), how());
  EXPECT_EQ(found.setting, 1U);
  EXPECT_EQ(found.inner.size(), 2U);
}

TEST(Grid, IsEveryCombination) {
  const auto settings = parse_grid("dropout=0.3,0.5;positions=window:2-4,tie=2,each", quick());
  ASSERT_EQ(settings.size(), 4U);
  EXPECT_EQ(settings[0].text, "dropout=0.3 positions=window:2-4,tie=2");
  EXPECT_EQ(settings[3].options.dropout, 0.5);
  EXPECT_EQ(settings[3].options.positions.kind, PositionPlan::Kind::kEach);
  EXPECT_EQ(parse_grid("", quick()).size(), 1U);
}

TEST(Grid, SaysWhatIsWrong) {
  const auto refuse = [](const char* grid, const char* text) {
    expect_error(ErrorCode::kUsage, text, [&] { (void)parse_grid(grid, quick()); });
  };
  refuse("dropout", "name=value");
  refuse("dropuot=0.1", "no option 'dropuot'");
  refuse("dropout=0.1,x", "dropout: expected a number in [0, 1), found 'x'");
  refuse("dropout=", "expected a number");
  refuse("epochs=1.5", "whole number");
  refuse("latent-dim=0", "from 1 to 4096");
  refuse("objective=best", "discriminative");
}

TEST(Recommendation, FollowsTheLengths) {
  const Recommendation same = recommended_options(made_up({10, 10}));
  EXPECT_EQ(same.options.positions.text(), "window:3-8,tie=1");
  SequenceSet ragged(Alphabet::dna(), {{0, 1, 2}, {1, 2}});
  EXPECT_EQ(recommended_options(ragged).options.positions.kind, PositionPlan::Kind::kStationary);
  EXPECT_NE(recommended_options(ragged).why.find("different lengths"), std::string::npos);
}

}  // namespace
}  // namespace hqmm::detail::testing
