// Learning the four kinds of HQMM: every step feasible, real models stay real, starts from HMMs.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hqmm/learn/start.hpp"
#include "hqmm/learn/trainer.hpp"
#include "support/learn.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::bytes_of;
using testing::expect_error;
using testing::quick;
using testing::SmallData;

SmallData structure_data() { return testing::draw(synthetic_hmm(), 12, 6, 80); }

struct Kind {
  Field field;
  EmissionKind emission;
};
constexpr Kind kKinds[] = {{Field::kComplex, EmissionKind::kEdge},
                           {Field::kComplex, EmissionKind::kState},
                           {Field::kReal, EmissionKind::kEdge},
                           {Field::kReal, EmissionKind::kState}};

TrainOptions options_of(LearnerKind learner, const Kind& kind) {
  TrainOptions options = quick(learner);
  options.latent_dim = 3;
  options.field = kind.field;
  options.emission = kind.emission;
  return options;
}

TEST(StructuredLearning, EveryEpochIsFeasibleAndOfItsKind) {
  const SmallData data = structure_data();
  for (const LearnerKind learner :
       {LearnerKind::kNsRis, LearnerKind::kCosm, LearnerKind::kGivens}) {
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(name_of(learner));
      SCOPED_TRACE(name_of(kind.field));
      SCOPED_TRACE(name_of(kind.emission));
      TrainOptions options = options_of(learner, kind);
      if (learner != LearnerKind::kGivens) options.initial_state = InitialStateKind::kLearned;
      std::vector<double> worths;
      TrainHooks hooks;
      hooks.on_epoch = [&](const EpochRecord& record) {
        EXPECT_LE(record.feasibility_residual, 1e-12);
        worths.push_back(record.validation.log_likelihood);
      };
      const TrainResult found = train(data.train, data.validation, options, hooks);
      const auto& model = std::get<Hqmm>(found.model);
      EXPECT_NO_THROW(require_valid(model));  // a real one has no imaginary part
      EXPECT_EQ(model.field, kind.field);
      EXPECT_EQ(model.emits_on(), kind.emission);
      EXPECT_GT(*std::max_element(worths.begin(), worths.end()), worths.front());
      options.threads = 3;
      EXPECT_EQ(bytes_of(train(data.train, data.validation, options).model), bytes_of(found.model));
    }
  }
}

TEST(StructuredLearning, AWarmStartFromEmIsNeverWorseThanEm) {
  const SmallData data = structure_data();
  TrainOptions em = quick(LearnerKind::kEm);
  em.latent_dim = 3;
  em.epochs = 30;
  const TrainResult hmm = train(data.train, data.validation, em);
  for (const Kind& kind : kKinds) {
    TrainOptions options = options_of(LearnerKind::kNsRis, kind);
    options.kraus_rank = 3;
    const TrainResult found = train(data.train, data.validation, options, {}, {.model = hmm.model});
    EXPECT_GE(found.restarts[0].best_validation, hmm.restarts[0].best_validation - 1e-9);
    const auto& model = std::get<Hqmm>(found.model);
    EXPECT_EQ(model.field, kind.field);
    EXPECT_EQ(model.emits_on(), kind.emission);
    EXPECT_NO_THROW(require_valid(model));
  }
}

TEST(StructuredLearning, AWarmStartIsOfTheRunsKind) {
  TrainOptions options = options_of(LearnerKind::kNsRis, kKinds[3]);
  const Alphabet alphabet = Alphabet::integers(4);
  const AnyModel start = random_start(options, alphabet, 0);
  EXPECT_EQ(std::get<Hqmm>(warm_start(start, options, alphabet, 0).model).field, Field::kReal);
  options.field = Field::kComplex;
  expect_error(ErrorCode::kUsage, "field real",
               [&] { static_cast<void>(warm_start(start, options, alphabet, 0)); });
}

TEST(StructuredLearning, TheLiteralAlgorithmIsThePapers) {
  for (const Kind& kind : kKinds) {
    TrainOptions options = options_of(LearnerKind::kNsRis, kind);
    options.retraction = RetractionKind::kLiteral;
    if (kind.field == Field::kComplex && kind.emission == EmissionKind::kEdge) {
      EXPECT_NO_THROW(require_usable(options));
    } else {
      expect_error(ErrorCode::kUsage, "the paper's", [&] { require_usable(options); });
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
