// The splice evaluation on small made-up classes: what it finds, and what it may look at.
#include "hqmm/reproduction/splice_protocol.hpp"

#include <gtest/gtest.h>

#include "hqmm/core/random.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/io/sequences.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

using reproduction::Method;

constexpr std::size_t kRows = 60;
constexpr std::size_t kRowLength = 12;
const std::vector<std::string> kNames{"N", "EI", "IE"};

void append(SequenceSet& set, const SequenceView& row, const std::string& label) {
  for (std::size_t t = 0; t < row.size(); ++t) set.push_back(row[t]);
  set.end_sequence_labelled(label);
}

/// Rows of three classes in turn; class c has symbol c more often than the others.
SequenceSet three_classes(double preference, std::uint64_t seed = 1, std::size_t rows = kRows) {
  RandomStream random(seed, Purpose::kTest);
  SequenceSet set(Alphabet::dna());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t t = 0; t < kRowLength; ++t) {
      const bool own = random.uniform() < preference;
      set.push_back(static_cast<Symbol>(own ? i % 3 : random.below(4)));
    }
    set.end_sequence_labelled(kNames[i % 3]);
  }
  return set;
}

SpliceCell cell_of(Method method, bool clean, std::uint64_t seed = 1) {
  return {2, 2, method, seed, clean};
}

TEST(SpliceProtocol, EveryMethodTellsSeparableClassesApart) {
  const SequenceSet data = three_classes(0.8, 1, 5 * kRows);
  for (const reproduction::MethodTraits& one : reproduction::all_methods()) {
    if (!one.on_splice) continue;
    const Method method = one.method;
    for (const bool clean : {false, true}) {
      const SpliceOutcome found = run_splice_cell(data, cell_of(method, clean), 1);
      EXPECT_LE(found.normalised_mean_class_error, 0.05) << name_of(method) << clean;
      EXPECT_EQ(found.fold_errors.size(), kSpliceFolds);
      EXPECT_EQ(found.class_errors.size(), 3U);
      if (method == Method::kNsRisLiteral) continue;
      EXPECT_EQ(found.mean_class_error, found.normalised_mean_class_error) << name_of(method);
      EXPECT_EQ(found.class_errors, found.normalised_class_errors) << name_of(method);
    }
  }
}

TEST(SpliceProtocol, ClassErrorsAreOrderedByName) {
  // Whatever is called N is drawn like EI: one of the two must suffer, IE need not.
  SequenceSet data(Alphabet::dna());
  const SequenceSet clear = three_classes(0.9);
  for (std::uint32_t i = 0; i < clear.size(); ++i) {
    const bool even = i / 3 % 2 == 0;
    const std::string name = i % 3 == 2 ? "IE" : even ? "N" : "EI";
    append(data, clear[i % 3 == 2 ? i : i / 3 * 3], name);
  }
  const SpliceOutcome found = run_splice_cell(data, cell_of(Method::kEm, true), 1);
  ASSERT_EQ(found.class_errors.size(), 3U);
  EXPECT_LE(found.class_errors[1], 0.05);
  EXPECT_GE(found.class_errors[0] + found.class_errors[2], 0.5);
  EXPECT_NEAR(found.mean_class_error,
              (found.class_errors[0] + found.class_errors[1] + found.class_errors[2]) / 3.0, 1e-15);
}

bool same(const AnyModel& a, const AnyModel& b) {
  if (const auto* hmm = std::get_if<Hmm>(&a)) {
    const auto& other = std::get<Hmm>(b);
    return hmm->transition == other.transition && hmm->emission == other.emission;
  }
  return std::get<Hqmm>(a).sets[0].gamma() == std::get<Hqmm>(b).sets[0].gamma();
}

/// The same rows, those of one fold with the next class' name.
SequenceSet relabelled(const SequenceSet& data, const std::vector<std::uint32_t>& fold_of,
                       std::uint32_t fold) {
  SequenceSet out(data.alphabet());
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    const std::size_t label = (data.label(i) + (fold_of[i] == fold ? 1U : 0U)) % 3;
    append(out, data[i], data.classes()[label]);
  }
  return out;
}

TEST(SpliceProtocol, TheCleanOneNeverLooksAtTheScoredLabels) {
  const SequenceSet data = three_classes(0.15);
  auto fold_of = make_folds(data, 3, {Grouping::Kind::kIdentical, 0}, 1);
  const std::uint32_t fold = (fold_of[0] + 1) % 3;
  for (std::uint32_t i = 0; i < 3; ++i) fold_of[i] = fold_of[0];  // classes are met in one order
  const SequenceSet other = relabelled(data, fold_of, fold);
  int moved = 0;
  for (const Method method : {Method::kNsRis, Method::kCosm, Method::kEm, Method::kNsRisLiteral}) {
    const SpliceCell leaky = cell_of(method, false);
    moved += run_splice_folds(data, fold_of, leaky, 1)[fold].picked !=
             run_splice_folds(other, fold_of, leaky, 1)[fold].picked;
    const SpliceCell cell = cell_of(method, true);
    const SpliceFold a = run_splice_folds(data, fold_of, cell, 1)[fold];
    const SpliceFold b = run_splice_folds(other, fold_of, cell, 1)[fold];
    EXPECT_EQ(a.picked, b.picked) << name_of(method);
    EXPECT_EQ(a.decisions, b.decisions) << name_of(method);
    ASSERT_EQ(a.models.size(), 3U);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_TRUE(same(a.models[c], b.models[c])) << name_of(method);
  }
  EXPECT_GT(moved, 0);  // the peers' protocol does look: these labels would show it
}

TEST(SpliceProtocol, OnMeaninglessLabelsOnlyThePeersOneBeatsChance) {
  double clean = 0.0;
  double peers = 0.0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const SequenceSet data = three_classes(0.0, seed);
    clean += run_splice_cell(data, cell_of(Method::kNsRis, true, seed), 2).mean_class_error / 5.0;
    peers += run_splice_cell(data, cell_of(Method::kNsRis, false, seed), 2).mean_class_error / 5.0;
  }
  EXPECT_NEAR(clean, 2.0 / 3.0, 0.08);
  EXPECT_LT(peers, clean - 0.08);
}

TEST(SpliceProtocol, EveryRowIsScoredOnce) {
  const SequenceSet data = three_classes(0.5);
  const auto fold_of = make_folds(data, 4, {Grouping::Kind::kNone, 0}, 1);
  std::vector<int> seen(data.size());
  for (const SpliceFold& fold : run_splice_folds(data, fold_of, cell_of(Method::kEm, false), 1)) {
    EXPECT_EQ(fold.rows.size(), fold.decisions.size());
    for (const std::uint32_t i : fold.rows) ++seen[i];
  }
  EXPECT_EQ(seen, std::vector<int>(data.size(), 1));
}

TEST(SpliceProtocol, IsTheSameAtAnyThreadCount) {
  const SequenceSet data = three_classes(0.3);
  for (const Method method : {Method::kNsRis, Method::kNsRisLiteral, Method::kEm}) {
    const SpliceOutcome one = run_splice_cell(data, cell_of(method, true), 1);
    const SpliceOutcome two = run_splice_cell(data, cell_of(method, true), 2);
    EXPECT_EQ(one.fold_errors, two.fold_errors) << name_of(method);
    EXPECT_EQ(one.class_errors, two.class_errors) << name_of(method);
  }
}

TEST(SpliceProtocol, RunsWithThePublishedSettings) {
  const TrainOptions cosm = splice_options({4, 2, Method::kCosm, 7, true}, 4);
  EXPECT_EQ(cosm.learner, LearnerKind::kCosm);
  EXPECT_EQ(cosm.epochs, 40U);
  EXPECT_EQ(cosm.batch_size, 200U);
  EXPECT_EQ(cosm.step_size, 0.75);
  EXPECT_EQ(cosm.step_decay, 0.90);
  EXPECT_EQ(cosm.initial_state, InitialStateKind::kUniform);
  EXPECT_EQ(cosm.burn_in, 0U);
  const TrainOptions literal = splice_options({2, 2, Method::kNsRisLiteral, 7, true}, 4);
  EXPECT_EQ(literal.batch_size, 200U);
  EXPECT_EQ(literal.step_size, 0.85);  // COSM's for (2, 4, 2), as the paper says
  EXPECT_EQ(literal.step_decay, 0.92);
  EXPECT_EQ(literal.retraction, RetractionKind::kLiteral);
  EXPECT_EQ(literal.epochs, 40U);
  EXPECT_EQ(splice_options({4, 2, Method::kNsRisPaper, 7, true}, 4).retraction,
            RetractionKind::kFeasible);
  EXPECT_EQ(splice_options({4, 2, Method::kEm, 7, true}, 4).restarts, 5U);
}

TEST(SpliceProtocol, RefusesWhatItCannotUse) {
  const SequenceSet data = three_classes(0.5);
  expect_error(ErrorCode::kUsage, "'givens'",
               [&] { (void)run_splice_cell(data, cell_of(Method::kGivens, true), 1); });
  expect_error(ErrorCode::kBadData, "classes", [] {
    (void)run_splice_cell(SequenceSet(Alphabet::dna(), {{0, 1}, {2}}), cell_of(Method::kEm, true),
                          1);
  });
  SequenceSet few(Alphabet::dna());
  for (const std::uint32_t i : {0U, 1U, 2U, 3U, 6U, 9U}) append(few, data[i], kNames[i % 3]);
  expect_error(ErrorCode::kBadData, "no row to train on",
               [&] { (void)run_splice_cell(few, cell_of(Method::kEm, true), 1); });
}

TEST(SpliceProtocol, ASmallCellOnThePublishedRows) {
  HQMM_SHARED_OR_SKIP(path, "data/splice/splice.data");
  ReadOptions read;
  read.ambiguous = Ambiguous::kDrop;
  const SequenceSet data = read_sequences(path.string(), read);
  ASSERT_EQ(data.size(), 3175U);
  const SpliceOutcome found = run_splice_cell(data, {2, 1, Method::kNsRis, 1, true}, 0);
  EXPECT_GT(found.mean_class_error, 0.40);  // a stationary model of two states cannot do well
  EXPECT_LT(found.mean_class_error, 0.60);
}

}  // namespace
}  // namespace hqmm::detail::testing
