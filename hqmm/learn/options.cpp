#include "hqmm/learn/options.hpp"
#include "hqmm/engine/device.hpp"

#include "hqmm/core/fail.hpp"
#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/learn/enum_names.hpp"
#include "hqmm/learn/option_table.hpp"
#include "hqmm/learn/recipes.hpp"

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

/// Found out before anything is read.
void require_device(const TrainOptions& options) {
  if (options.device == DeviceKind::kCpu) return;
  if (options.learner != LearnerKind::kNsRis && options.learner != LearnerKind::kCosm) {
    throw fail(ErrorCode::kUsage,
               "the GPU engine is for HQMMs that are trained by gradients, with ns-ris or cosm: {} "
               "runs on the CPU",
               name_of(options.learner));
  }
  if (options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral) {
    throw fail(ErrorCode::kUsage,
               "the GPU engine is for models that stay trace preserving: {} runs on the CPU",
               option("retraction", "literal"));
  }
  if (options.engine != EngineKind::kAuto) {
    throw fail(ErrorCode::kUsage,
               "{} chooses among the engines of the CPU: it cannot be combined with {}",
               option("engine"), option("device", "cuda"));
  }
  detail::require_device(options.device);
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
  require_device(options);
  if (options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral &&
      (options.field != Field::kComplex || options.emission != EmissionKind::kEdge)) {
    throw fail(
        ErrorCode::kUsage, "{} is the paper's algorithm for its own models: {} and {} go with it",
        option("retraction", "literal"), option("field", "complex"), option("emission", "edge"));
  }
  if (options.learner == LearnerKind::kGivens &&
      options.initial_state == InitialStateKind::kLearned) {
    throw fail(ErrorCode::kUsage,
               "givens changes only the Kraus operators: use another {} than learned",
               option("initial_state"));
  }
  if (options.chunk_length && *options.chunk_length > 0 && options.burn_in &&
      *options.burn_in >= *options.chunk_length) {
    throw fail(ErrorCode::kUsage, "{} leaves nothing to score in chunks of {} symbols",
               option("burn_in", *options.burn_in), *options.chunk_length);
  }
}

void detail::require_usable_elsewhere(TrainOptions options) {
  options.device = DeviceKind::kCpu;
  require_usable(options);
}

}  // namespace hqmm
