// One cell of a reproduction: trains a model of a synthetic benchmark and scores it honestly.
// Splice cells are run by splice_protocol.hpp.
#pragma once

#include <optional>
#include <variant>

#include "hqmm/learn/trainer.hpp"
#include "hqmm/reproduction/plan.hpp"
#include "hqmm/reproduction/splice_protocol.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail::reproduction {

/// Description accuracy of one split; raw beside it for models that are not trace preserving.
struct SplitAccuracy {
  double da = 0.0;
  std::optional<double> raw_da;
};

struct SyntheticOutcome {
  SplitAccuracy train, validation, test;  // whole sequences, the first 1000 symbols not scored
  std::vector<double> test_da;            // sequence by sequence, for paired tests
  SplitAccuracy last_validation;          // of the last epoch, whichever was kept
  double residual = 0.0;                  // ‖Γ†Γ − I‖_F of the model scored
  double smallest_singular = 1.0;         // of Γ; 1 for a model that is trace preserving
  double largest_singular = 1.0;
  std::size_t epochs = 0;
  std::size_t best_epoch = 0;
  std::string status;    // of the training, as `hqmm train` names it
  double seconds = 0.0;  // training, on one thread
};
using CellOutcome = std::variant<SyntheticOutcome, SpliceOutcome>;

[[nodiscard]] inline double seconds_of(const CellOutcome& outcome) {
  return std::visit([](const auto& one) { return one.seconds; }, outcome);
}

struct SyntheticData {
  SequenceSet train, validation, test;
  AnyModel truth;  // the process the data came from
};

/// The scores alone, of any model: also of the true one.
[[nodiscard]] SyntheticOutcome score_model(const AnyModel& model, const SyntheticData& data);

/// What training of a cell runs with; `time_limit` (seconds, 0: none) binds Givens search only.
[[nodiscard]] TrainOptions cell_options(const Cell& cell, double time_limit,
                                        std::size_t alphabet_size);

/// On one thread. Nothing when stopped. Throws like train().
[[nodiscard]] std::optional<SyntheticOutcome> run_synthetic_cell(const Cell& cell,
                                                                 const SyntheticData& data,
                                                                 double time_limit,
                                                                 const StopRequest& stop);

/// The literal retraction of a Γ whose n singular values are equal: divided by the Frobenius norm
/// each is 1/√n, and f^T(1/√n) comes out.
[[nodiscard]] double literal_scale(Index latent_dim, int ns_steps);

/// Least and greatest value of f^T over the singular values [least, 1] that may come in.
struct Range {
  double least = 0.0;
  double greatest = 0.0;
};
[[nodiscard]] Range literal_range(int ns_steps, double least_in = 0.05);

/// What a common singular value c adds to description accuracy when nothing is normalised: every
/// symbol's weight is c² too large, so 2 ln c / ln s. With unequal ones the gain lies between those
/// of the least and the greatest, for tr ΓρΓ† lies between their squares.
[[nodiscard]] double raw_gain(double scale, std::size_t alphabet_size);

}  // namespace hqmm::detail::reproduction
