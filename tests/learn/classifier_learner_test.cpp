// Whole fits of small classifiers, and what is refused.
#include "hqmm/learn/classifier_learner.hpp"

#include <cmath>

#include "hqmm/engine/likelihood.hpp"
#include "hqmm/learn/joint_descent.hpp"
#include "hqmm/model/smoothing.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "support/learn.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

/// Three classes of DNA that differ in one dinucleotide, or none: position by position alike.
SequenceSet coupled_data(std::size_t per_class, std::uint64_t seed) {
  SequenceSet out(Alphabet::dna());
  for (std::size_t i = 0; i < 3 * per_class; ++i) {
    RandomStream random(seed, Purpose::kTest, i);
    const std::size_t c = i % 3;
    std::vector<Symbol> symbols = testing::random_symbols(10 + i % 4, 4, random, 0.03);
    const auto coupled = static_cast<Symbol>(random.below(4));
    if (c > 0) symbols[4] = symbols[5] = coupled;
    if (c == 2) symbols[5] = static_cast<Symbol>(3 - coupled);
    for (const Symbol y : symbols) out.push_back(y);
    out.end_sequence_labelled(std::string(1, static_cast<char>('c' - c)));
  }
  return out;
}

ClassifierOptions small_options() {
  ClassifierOptions options;
  options.train.latent_dim = 4;
  options.train.epochs = 15;
  options.train.batch_size = 20;
  options.train.step_size = 0.1;
  options.train.threads = 1;
  options.dropout = 0.1;
  options.positions = PositionPlan::parse("window:3-6,tie=4");
  return options;
}

std::string decision(const Classifier& classifier, const SequenceSet& data, std::size_t i) {
  std::size_t best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < classifier.classes.size(); ++c) {
    const auto likelihoods =
        log_likelihoods(classifier.models[c], data.subset({static_cast<std::uint32_t>(i)}), 0, 1);
    const double value = likelihoods[0].log_likelihood + std::log(classifier.priors[c]);
    if (value > most) {
      most = value;
      best = c;
    }
  }
  return classifier.classes[best];
}

double error_rate(const Classifier& classifier, const SequenceSet& data) {
  double wrong = 0.0;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (decision(classifier, data, i) != data.classes()[data.label(i)]) wrong += 1.0;
  return wrong / static_cast<double>(data.size());
}

std::string bytes_of(const Classifier& classifier) {
  std::string out;
  for (const AnyModel& model : classifier.models) out += testing::bytes_of(model);
  return out;
}

TEST(ClassifierLearner, LearnsWhatNoPositionFrequencyShows) {
  const SequenceSet train = coupled_data(150, 1);
  const SequenceSet test = coupled_data(60, 2);
  for (const ObjectiveKind objective :
       {ObjectiveKind::kDiscriminative, ObjectiveKind::kGenerative, ObjectiveKind::kHybrid}) {
    ClassifierOptions options = small_options();
    options.objective = objective;
    options.generative_epochs = 5;
    const Classifier found = fit_classifier(train, options);
    EXPECT_EQ(found.classes, (std::vector<std::string>{"a", "b", "c"}));
    for (const AnyModel& model : found.models) testing::expect_feasible(model);
    // independent positions cannot do better than guess: 2 of 3 wrong
    EXPECT_LT(error_rate(found, test), 0.35) << static_cast<int>(objective);
  }
}

TEST(ClassifierLearner, TheObjectiveRises) {
  std::vector<double> seen;
  ClassifierHooks hooks;
  hooks.on_epoch = [&](std::size_t member, std::size_t epoch, double objective) {
    EXPECT_EQ(member, 0U);
    seen.push_back(objective);
    EXPECT_EQ(epoch, seen.size());
  };
  static_cast<void>(fit_classifier(coupled_data(100, 3), small_options(), hooks));
  ASSERT_EQ(seen.size(), 15U);
  EXPECT_NEAR(seen.front(), -std::log(3.0), 0.1);
  EXPECT_GT(seen.back(), seen.front() + 0.1);
}

TEST(ClassifierLearner, TheSameBytesAtAnyThreadCountAndOthersOfAnotherSeed) {
  ClassifierOptions options = small_options();
  options.train.epochs = 3;
  options.members = 2;
  const SequenceSet data = coupled_data(40, 4);
  const std::string one = bytes_of(fit_classifier(data, options));
  options.train.threads = 2;
  EXPECT_EQ(bytes_of(fit_classifier(data, options)), one);
  options.train.seed = 2;
  EXPECT_NE(bytes_of(fit_classifier(data, options)), one);
}

TEST(ClassifierLearner, MembersAreKeptAsOneMixture) {
  ClassifierOptions options = small_options();
  options.train.epochs = 3;
  options.members = 3;
  const Classifier found = fit_classifier(coupled_data(30, 5), options);
  for (const AnyModel& model : found.models) {
    testing::expect_feasible(model);
    EXPECT_EQ(std::get<Hqmm>(model).latent_dim(), 12);
  }
}

TEST(ClassifierLearner, StationaryModelsByEveryLearner) {
  SequenceSet data(Alphabet::integers(2));
  for (std::size_t i = 0; i < 24; ++i) {
    RandomStream random(6, Purpose::kTest, i);
    for (std::size_t t = 0; t < 30; ++t)
      data.push_back(random.uniform() < (i % 2 == 0 ? 0.2 : 0.8) ? 1 : 0);
    data.end_sequence_labelled(i % 2 == 0 ? "few" : "many");
  }
  for (const LearnerKind learner : testing::kAllLearners) {
    ClassifierOptions options;
    options.train = testing::quick(learner);
    options.objective = ObjectiveKind::kGenerative;
    options.members = 2;
    const Classifier found = fit_classifier(data, options);
    for (const AnyModel& model : found.models) testing::expect_feasible(model);
    EXPECT_LE(error_rate(found, data), 0.1) << name_of(learner);
  }
  ClassifierOptions joint = small_options();
  joint.positions = {};
  EXPECT_LE(error_rate(fit_classifier(data, joint), data), 0.1);
}

/// One member, an empty sequence, nothing but missing symbols, either anchor: all is taken.
TEST(ClassifierLearner, AwkwardData) {
  SequenceSet data = coupled_data(10, 7);
  const auto add = [&](const std::vector<Symbol>& symbols, const std::string& label) {
    for (const Symbol y : symbols) data.push_back(y);
    data.end_sequence_labelled(label);
  };
  add({0, 1, 2, 3}, "single");
  add({}, "b");
  add(std::vector<Symbol>(13, kMissing), "a");
  add(std::vector<Symbol>(20, kMissing), "nothing known");
  for (const bool from_end : {false, true}) {
    for (const char* positions : {"stationary", "each", "window:3-6,tie=4"}) {
      ClassifierOptions options = small_options();
      options.train.epochs = 2;
      options.positions = PositionPlan::parse(positions);
      options.positions.from_end = from_end;
      const Classifier found = fit_classifier(data, options);
      ASSERT_EQ(found.classes.size(), 5U);
      for (const AnyModel& model : found.models) testing::expect_feasible(model);
      for (const AnyModel& model : found.models)
        for (const auto& one : log_likelihoods(model, data, 0, 1))
          EXPECT_TRUE(std::isfinite(one.log_likelihood));
    }
  }
}

TEST(ClassifierLearner, PriorsAreUniformEmpiricalOrGiven) {
  ClassifierOptions options = small_options();
  options.train.epochs = 1;
  SequenceSet data = coupled_data(10, 8);
  data.append(data[0]);  // without a class
  testing::expect_error(ErrorCode::kBadData, "has no class",
                        [&] { static_cast<void>(fit_classifier(data, options)); });
  data = coupled_data(10, 8);
  data.push_back(1);
  data.end_sequence_labelled("a");
  data.push_back(1);
  data.end_sequence_labelled("a");
  EXPECT_EQ(fit_classifier(data, options).priors[0], 1.0 / 3.0);
  options.prior = PriorKind::kEmpirical;
  EXPECT_DOUBLE_EQ(fit_classifier(data, options).priors[0], 12.0 / 32.0);
  options.prior = PriorKind::kGiven;
  options.given_priors = {0.2, 0.3, 0.5};
  EXPECT_EQ(fit_classifier(data, options).priors, options.given_priors);
  options.given_priors = {0.5, 0.5};
  testing::expect_error(ErrorCode::kUsage, "2 priors were given for 3 classes",
                        [&] { static_cast<void>(fit_classifier(data, options)); });
  options.given_priors = {0.5, 0.6, -0.1};
  testing::expect_error(ErrorCode::kUsage, "priors must be positive",
                        [&] { static_cast<void>(fit_classifier(data, options)); });
}

TEST(ClassifierLearner, RefusesWhatCannotBeLearned) {
  const SequenceSet data = coupled_data(5, 9);
  const auto expect_usage = [&](std::string_view text, auto change) {
    ClassifierOptions options = small_options();
    change(options);
    testing::expect_error(ErrorCode::kUsage, text,
                          [&] { static_cast<void>(fit_classifier(data, options)); });
  };
  for (const LearnerKind learner : {LearnerKind::kEm, LearnerKind::kGivens, LearnerKind::kCosm})
    expect_usage("learned by ns-ris", [&](auto& o) { o.train.learner = learner; });
  expect_usage("feasible", [](auto& o) { o.train.retraction = RetractionKind::kLiteral; });
  expect_usage("initial state",
               [](auto& o) { o.train.initial_state = InitialStateKind::kLearned; });
  expect_usage("burn-in", [](auto& o) { o.train.burn_in = 3; });
  expect_usage("smoothing", [](auto& o) { o.smoothing = 1.5; });
  expect_usage("dropout", [](auto& o) { o.dropout = 1.0; });
  expect_usage("second_moment", [](auto& o) { o.second_moment = 1.0; });
  expect_usage("members", [](auto& o) { o.members = 0; });
  expect_usage("pseudo_count", [](auto& o) { o.pseudo_count = -1.0; });
  expect_usage("start_noise", [](auto& o) { o.start_noise = std::nan(""); });
  expect_usage("window", [](auto& o) { o.positions.last = 60; });
}

TEST(ClassifierLearner, RefusesDataWithoutTwoClasses) {
  const auto expect_bad = [](std::string_view text, const SequenceSet& data) {
    testing::expect_error(ErrorCode::kBadData, text,
                          [&] { static_cast<void>(fit_classifier(data, small_options())); });
  };
  expect_bad("no classes", SequenceSet(Alphabet::dna(), {{0, 1}, {2}}));
  SequenceSet one(Alphabet::dna());
  one.push_back(1);
  one.end_sequence_labelled("x");
  expect_bad("at least two classes are needed", one);
  SequenceSet empty(Alphabet::dna());
  empty.end_sequence_labelled("x");
  empty.end_sequence_labelled("y");
  expect_bad("empty", empty);
}

TEST(ClassifierLearner, StopsWhenAsked) {
  ClassifierHooks hooks;
  int asked = 0;
  hooks.stop_requested = [&] { return ++asked > 3; };
  testing::expect_error(ErrorCode::kInterrupted, "interrupted", [&] {
    static_cast<void>(fit_classifier(coupled_data(40, 10), small_options(), hooks));
  });
  ClassifierOptions separate = small_options();
  separate.objective = ObjectiveKind::kGenerative;
  separate.positions = {};
  separate.train = testing::quick(LearnerKind::kNsRis);
  asked = 0;
  testing::expect_error(ErrorCode::kInterrupted, "interrupted", [&] {
    static_cast<void>(fit_classifier(coupled_data(40, 10), separate, hooks));
  });
}

TEST(ClassifierLearner, KeepsWhatItHasWhenThatIsEnough) {
  const SequenceSet data = coupled_data(40, 10);
  ClassifierOptions options = small_options();
  options.members = 2;
  std::vector<std::size_t> epochs;
  ClassifierHooks hooks;
  hooks.on_epoch = [&](std::size_t, std::size_t epoch, double) { epochs.push_back(epoch); };
  hooks.enough = [&] { return epochs.back() == 2; };
  const Classifier found = fit_classifier(data, options, hooks);
  EXPECT_EQ(epochs, (std::vector<std::size_t>{1, 2, 1, 2}));
  for (const AnyModel& model : found.models) testing::expect_feasible(model);

  options = small_options();
  options.objective = ObjectiveKind::kHybrid;
  options.generative_epochs = 3;
  epochs.clear();
  EXPECT_EQ(fit_classifier(data, options, hooks).classes.size(), 3U);
  EXPECT_EQ(epochs, (std::vector<std::size_t>{1, 2}));

  options = small_options();
  options.objective = ObjectiveKind::kGenerative;
  options.positions = {};
  options.train = testing::quick(LearnerKind::kEm);
  options.train.epochs = 20;
  epochs.clear();
  EXPECT_EQ(fit_classifier(data, options, hooks).classes.size(), 3U);
  EXPECT_EQ(epochs, (std::vector<std::size_t>{1, 2, 1, 2, 1, 2}));
}

/// Without smoothing a symbol never seen has no probability.
TEST(ClassifierLearner, ImpossibleSymbolsDivergeWithoutSmoothingOnly) {
  SequenceSet data(Alphabet::integers(3));
  for (int i = 0; i < 8; ++i) {
    for (int t = 0; t < 6; ++t) data.push_back(static_cast<Symbol>(i % 2));
    data.end_sequence_labelled(i % 2 == 0 ? "zeros" : "ones");
  }
  ClassifierOptions options = small_options();
  options.positions = {};
  options.start_noise = 0.0;
  options.pseudo_count = 0.0;
  options.smoothing = 0.0;
  testing::expect_error(ErrorCode::kDiverged, "probability 0",
                        [&] { static_cast<void>(fit_classifier(data, options)); });
  options.smoothing = 0.01;
  EXPECT_EQ(error_rate(fit_classifier(data, options), data), 0.0);
}

TEST(JointDescent, EveryStepOfEveryKindIsFeasible) {
  const SequenceSet data = coupled_data(40, 11);
  ClassifierOptions options = small_options();
  options.train.batch_size = 120;  // an epoch is a step
  JointData joint{data, {}, {0.4, 0.3, 0.3}, {1.0, 1.0, 1.0}};
  for (std::size_t i = 0; i < data.size(); ++i) joint.labels.push_back(data.label(i));
  RandomStream random(12, Purpose::kTest);
  for (const testing::Shape& kind : testing::of_every_kind({3, 4, 2})) {
    std::vector<Hqmm> start;
    for (int c = 0; c < 3; ++c)
      start.push_back(testing::random_positional_hqmm(kind, PositionMap::Anchor::kStart, random));
    for (Hqmm& model : start) model.alphabet = data.alphabet();
    JointDescent descent(start, joint, options, 0);
    for (std::size_t epoch = 0; epoch < 20; ++epoch) {
      const double step_size = epoch % 2 == 0 ? 0.05 : 3.0;  // far beyond any that is of use
      descent.run_epoch(epoch, {step_size, step_size}, JointObjective::Kind::kDiscriminative, {});
      for (const Hqmm& model : descent.models()) {
        ASSERT_LE(feasibility_residual(model), 1e-12) << "epoch " << epoch;
        ASSERT_NO_THROW(require_valid(model));  // real ones stay real
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
