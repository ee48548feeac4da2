// Nested cross-validation of classifiers.
//
// Folds are stratified and never split a group (data/folds.hpp). The rows of a fold are scored
// once, by a classifier learned from the other folds. When there are several settings to choose
// from, each is cross-validated *inside those other folds*, and the best one is learned again from
// all of them: the scored fold has no part in anything that is used on it.
//
// The best setting is the one with the smallest log loss among those whose inner mean class error
// is not larger than the smallest by more than one standard error of the paired difference: errors
// count, but on a few hundred rows they differ by luck, which the log loss feels less. Of equals
// the first in the list. Ensembles are chosen by single members.
//
// A class that the other folds do not have gets no model: its posterior is 0 in that fold and its
// rows there are errors. When only one class is left to learn, it is what every row is taken for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/evaluate/baselines.hpp"
#include "hqmm/evaluate/classification.hpp"
#include "hqmm/evaluate/classifier_settings.hpp"
#include "hqmm/evaluate/paired_errors.hpp"

namespace hqmm::detail {

struct CrossValidationOptions {
  std::size_t folds = 5;
  std::size_t inner_folds = 3;  // fewer where there are not that many groups; 1: a fifth held out
  Grouping grouping;
  std::uint64_t seed = 1;  // of the folds; the settings have their own
  int threads = 0;
  std::vector<BaselineOptions> baselines;
};

/// What a job has found: log P(c | x) of the rows that it scored and, of an outer fold with more
/// than one class to learn from, the classifier.
struct FoldCell {
  Posteriors posteriors;
  std::optional<Classifier> classifier;
};

struct CrossValidationHooks {
  /// From several threads, one at a time: how much of the work is done, 0 to 1.
  std::function<void(double)> on_progress;
  StopRequest stop_requested;
  /// Finished jobs by name, from several threads at once: what is found is not done again.
  std::function<std::optional<FoldCell>(const std::string& name)> find_cell;
  std::function<void(const std::string& name, const FoldCell&)> keep_cell;
  /// Other processes, which help_cross_validation().
  Ranks* ranks = nullptr;
};

/// How a setting did inside the training folds.
struct InnerScore {
  double mean_class_error = 0.0;
  double log_loss = 0.0;
};

struct FoldOutcome {
  std::size_t rows = 0;
  std::size_t setting = 0;        // the chosen one
  std::vector<InnerScore> inner;  // by setting; empty when there was no choice
  double mean_class_error = 0.0;  // over the classes that have rows in the fold
  double overall_error = 0.0;
  std::vector<std::uint32_t> unlearned;  // classes that the other folds do not have
  std::optional<Classifier> classifier;  // what scored the fold; none when one class was left
};

struct BaselineOutcome {
  BaselineOptions options;
  Posteriors posteriors;
  Classification figures;
  PairedErrors against;  // classifier − baseline
};

struct CrossValidation {
  std::vector<std::string> classes;    // in byte order
  std::vector<std::uint32_t> labels;   // by row, an index into classes
  std::vector<std::uint32_t> fold_of;  // by row
  std::vector<double> priors;          // of all rows: what figures are weighted with
  Posteriors posteriors;               // of every row, by a classifier that never saw it
  Classification figures;
  std::vector<FoldOutcome> folds;
  std::vector<BaselineOutcome> baselines;
};

/// Data with a class for every row; settings: one at least. Same bytes at any thread count. Throws
/// kUsage, kBadData, kDiverged, kInterrupted.
[[nodiscard]] CrossValidation cross_validate(const SequenceSet& data,
                                             const std::vector<ClassifierSetting>& settings,
                                             const CrossValidationOptions& options,
                                             const CrossValidationHooks& hooks = {});

/// Another rank's part of that, with the same data and settings.
void help_cross_validation(Ranks& ranks, const SequenceSet& data,
                           const std::vector<ClassifierSetting>& settings, int threads);

/// The same with folds given: row i is in fold fold_of[i].
[[nodiscard]] CrossValidation cross_validate(const SequenceSet& data,
                                             const std::vector<std::uint32_t>& fold_of,
                                             const std::vector<ClassifierSetting>& settings,
                                             const CrossValidationOptions& options,
                                             const CrossValidationHooks& hooks = {});

/// The choice alone, among settings cross-validated on all of the data: `setting` and `inner` of
/// what comes back. With one setting there is nothing to do.
[[nodiscard]] FoldOutcome select_setting(const SequenceSet& data,
                                         const std::vector<ClassifierSetting>& settings,
                                         const CrossValidationOptions& options,
                                         const CrossValidationHooks& hooks = {});

}  // namespace hqmm::detail
