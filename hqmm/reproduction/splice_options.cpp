// What each method of the splice evaluation trains with.
#include <algorithm>
#include <array>

#include "hqmm/core/error.hpp"
#include "hqmm/reproduction/papers_steps.hpp"
#include "hqmm/reproduction/splice_protocol.hpp"

namespace hqmm {
namespace {

constexpr std::array<std::string_view, 5> kMethods{"ns-ris-literal", "ns-ris-paper", "ns-ris",
                                                   "cosm", "em"};

}  // namespace

std::span<const std::string_view> splice_methods() { return kMethods; }

TrainOptions splice_options(const SpliceCell& cell, std::size_t alphabet_size) {
  if (std::find(kMethods.begin(), kMethods.end(), cell.method) == kMethods.end()) {
    throw fail(ErrorCode::kUsage, "there is no method '{}' for splice data",
               printable(cell.method));
  }
  const LearnerKind learner = cell.method == "em"     ? LearnerKind::kEm
                              : cell.method == "cosm" ? LearnerKind::kCosm
                                                      : LearnerKind::kNsRis;
  TrainOptions options = default_options(learner);
  options.latent_dim = cell.latent_dim;
  options.kraus_rank = learner == LearnerKind::kEm ? 1 : cell.kraus_rank;
  options.seed = cell.seed;
  options.threads = 1;  // the models are trained side by side
  if (cell.method == "ns-ris") {
    // For time, a third of the recipe's epochs and larger batches: 40 epochs gave the same figures.
    options.epochs = 20;
    options.batch_size = 16;
  } else {
    apply_paper_preset(options, alphabet_size);
    if (learner != LearnerKind::kEm) {
      options.epochs = 40;
      options.batch_size = 200;
      apply_papers_steps(options, alphabet_size);
    }
    if (cell.method == "ns-ris-literal") options.retraction = RetractionKind::kLiteral;
  }
  options.initial_state = InitialStateKind::kUniform;
  options.chunk_length = options.burn_in = options.validation_burn_in = 0;
  options.gradient_through_burn_in = true;
  require_usable(options);
  return options;
}

}  // namespace hqmm
