// What the cells of a reproduction add up to: means and spreads over seeds, paired comparisons over
// the test sequences, and the check that nothing honest beats the process that made the data.
#pragma once

#include <map>
#include <span>

#include "hqmm/evaluate/paired_errors.hpp"
#include "hqmm/evaluate/statistics.hpp"
#include "hqmm/reproduction/run_cell.hpp"

namespace hqmm::detail::reproduction {

struct CellResult {
  Cell cell;
  CellOutcome outcome;
};

/// All seeds of a method at one size.
struct Group {
  Cell cell;  // its seed means nothing
  std::size_t seeds = 0;
  Spread train, validation, test;         // description accuracy, normalised; over seeds
  Spread raw_train, raw_validation, raw;  // … not normalised; empty for feasible models
  Spread last, raw_last;                  // … on the validation set at the last epoch
  Spread best_epoch;
  std::vector<double> test_da;       // by test sequence, mean over seeds
  Spread error, normalised_error;    // splice: mean class error over seeds
  std::vector<double> fold_errors;   // splice: every fold of every seed
  std::vector<double> class_errors;  // splice: EI, IE, N, mean over seeds
  Spread seconds;
  double smallest_singular = 1.0, largest_singular = 1.0;  // over seeds
  bool time_bounded = false;  // a cell of it stopped at the time limit: not reproducible
  bool diverged = false;
};
/// In the order of first appearance.
[[nodiscard]] std::vector<Group> group_results(std::span<const CellResult> results);

[[nodiscard]] const Group* find_group(std::span<const Group> groups, Study study, Method method,
                                      Index latent_dim, Index kraus_rank, bool clean = true,
                                      int ns_steps = 5);

/// The group of a method at n with the best mean validation score over w: how a user would choose.
[[nodiscard]] const Group* best_on_validation(std::span<const Group> groups, Study study,
                                              Method method, Index latent_dim);

/// One paired test over the test sequences, p corrected for all tests of its study.
struct Comparison {
  Study study = Study::kSyntheticHmm;
  Cell a, b;
  PairedTest test;
  double corrected_p = 1.0;
};
/// For every n: our recipe (w by validation) and the warm start against EM; under the paper's
/// protocol the feasible retraction, with its steps and with small ones, against COSM. Holm's
/// correction within a study.
[[nodiscard]] std::vector<Comparison> compare(std::span<const Group> groups, Study study);

/// A group whose normalised test score lies above the true model's by more than two standard errors
/// of the paired difference: a bug, not a result.
struct AboveTruth {
  Cell cell;
  PairedTest test;
};
[[nodiscard]] std::vector<AboveTruth> above_truth(std::span<const Group> groups,
                                                  const std::map<Study, SyntheticOutcome>& truths);

}  // namespace hqmm::detail::reproduction
