#include "hqmm/learn/options.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "hqmm/learn/option_table.hpp"

namespace hqmm {
using namespace detail;
namespace {

/// What can be told before there is data: an engine may still refuse that.
void require_engine(const TrainOptions& options) {
  if (options.engine == EngineKind::kAuto) return;
  if (options.learner != LearnerKind::kNsRis && options.learner != LearnerKind::kCosm) {
    throw fail(ErrorCode::kUsage, "{} applies to the gradients of ns-ris and cosm: {} has none",
               option("engine"), name_of(options.learner));
  }
  BatchShape shape{options.latent_dim, options.kraus_rank, 1};
  shape.state_rank = options.initial_state == InitialStateKind::kPure ? 1 : options.latent_dim;
  shape.feasible = options.retraction == RetractionKind::kFeasible;
  static_cast<void>(choose(shape, options.engine));
}

}  // namespace

TrainOptions default_options(LearnerKind learner) {
  TrainOptions options;
  options.learner = learner;
  switch (learner) {
    case LearnerKind::kNsRis:
    case LearnerKind::kCosm:
      break;
    case LearnerKind::kGivens:
      options.epochs = 15;
      options.batch_size = 1;
      break;
    case LearnerKind::kEm:
      options.epochs = 600;
      options.restarts = 16;
      options.emission = EmissionKind::kState;
      options.chunk_length = 0;
      options.burn_in = 0;
      break;
  }
  return options;
}

void require_usable(const TrainOptions& options) {
  require_in_range(train_option_table(), options);
  require_engine(options);
  if (options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral &&
      (options.field != Field::kComplex || options.emission != EmissionKind::kEdge)) {
    throw fail(
        ErrorCode::kUsage, "{} is the paper's algorithm for its own models: {} and {} go with it",
        option("retraction", "literal"), option("field", "complex"), option("emission", "edge"));
  }
  if (options.learner == LearnerKind::kGivens &&
      options.initial_state == InitialStateKind::kLearned) {
    throw fail(ErrorCode::kUsage,
               "givens turns the Kraus operators only: use another {} than learned",
               option("initial_state"));
  }
  if (options.chunk_length && *options.chunk_length > 0 && options.burn_in &&
      *options.burn_in >= *options.chunk_length) {
    throw fail(ErrorCode::kUsage, "{} leaves nothing of chunks of {} symbols",
               option("burn_in", *options.burn_in), *options.chunk_length);
  }
}

}  // namespace hqmm
