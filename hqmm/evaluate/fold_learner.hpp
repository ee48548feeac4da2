// The jobs of a cross-validation: a classifier or a baseline is learned from some rows and scores
// others.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "hqmm/evaluate/cross_validation.hpp"
#include "hqmm/learn/class_labels.hpp"

namespace hqmm::detail {

/// Rows to learn from and rows to score, as indices into the whole data.
struct SplitRows {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> scored;
};

/// How much learning a job takes, for the progress.
[[nodiscard]] double work_of(const ClassifierSetting& setting, const SplitRows& rows);

/// Adds up the work of jobs on several threads.
class Meter {
 public:
  Meter(const CrossValidationHooks& hooks, double total) : hooks_(hooks), total_(total) {}
  void add(double work);
  [[nodiscard]] const StopRequest& stop() const { return hooks_.stop_requested; }
  [[nodiscard]] const CrossValidationHooks& hooks() const { return hooks_; }

 private:
  std::mutex mutex_;
  const CrossValidationHooks& hooks_;
  double total_;
  double done_ = 0.0;
};

class FoldLearner {
 public:
  /// Keeps a reference to the data.
  explicit FoldLearner(const SequenceSet& data) : data_(data), classes_(ordered_classes(data)) {}

  [[nodiscard]] const OrderedClasses& classes() const noexcept { return classes_; }
  /// Rows per class.
  [[nodiscard]] std::vector<std::size_t> count(const std::vector<std::uint32_t>& rows) const;
  /// Posteriors of the scored rows, on one thread; `keep` gets the classifier, where there was one
  /// to learn. Throws like fit_classifier.
  [[nodiscard]] Posteriors score(const ClassifierSetting& setting, const SplitRows& rows,
                                 Meter& meter, std::optional<Classifier>* keep = nullptr) const;
  /// The same by a baseline, with the priors of `options`.
  [[nodiscard]] Posteriors baseline(const BaselineOptions& baseline,
                                    const ClassifierOptions& options, const SplitRows& rows) const;

 private:
  [[nodiscard]] ClassifierOptions options_for(const ClassifierSetting& setting,
                                              const std::vector<std::uint32_t>& train) const;

  const SequenceSet& data_;
  OrderedClasses classes_;
};

}  // namespace hqmm::detail
