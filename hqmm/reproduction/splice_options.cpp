// What each method of the splice evaluation trains with.
#include "hqmm/core/fail.hpp"
#include "hqmm/reproduction/papers_steps.hpp"
#include "hqmm/reproduction/splice_protocol.hpp"

namespace hqmm::detail {

TrainOptions splice_options(const SpliceCell& cell, std::size_t alphabet_size) {
  const reproduction::MethodTraits& method = reproduction::traits_of(cell.method);
  if (!method.on_splice)
    throw fail(ErrorCode::kUsage, "there is no method '{}' for splice data", method.name);
  TrainOptions options = default_options(method.learner);
  options.latent_dim = cell.latent_dim;
  options.kraus_rank = method.learner == LearnerKind::kEm ? 1 : cell.kraus_rank;
  options.seed = cell.seed;
  options.threads = 1;  // the models are trained side by side
  if (method.learner == LearnerKind::kEm) {
    apply_paper_preset(options, alphabet_size);  // here as many starts as the peers
  } else if (method.protocol == reproduction::Protocol::kOurs) {
    // For time, a third of the recipe's epochs and larger batches: 40 epochs gave the same figures.
    options.epochs = 20;
    options.batch_size = 16;
  } else {
    apply_paper_preset(options, alphabet_size);
    options.epochs = 40;
    options.batch_size = 200;
    apply_papers_steps(options, alphabet_size);
  }
  options.retraction = method.retraction;
  options.initial_state = InitialStateKind::kUniform;
  options.chunk_length = options.burn_in = options.validation_burn_in = 0;
  options.gradient_through_burn_in = true;
  require_usable(options);
  return options;
}

}  // namespace hqmm::detail
