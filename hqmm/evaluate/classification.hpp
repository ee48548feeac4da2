// How good a classifier's posterior probabilities are on rows whose class is known.
//
// Errors: every class has an error rate; their mean does not depend on the frequencies of the classes.
// Probabilities: log loss and calibration are expectations, and make sense only if the classes
// are as frequent as the prior of the posteriors says. Every row of class c therefore weighs
//
//   w = prior_c / (share of rows of class c)
//
// so that with a uniform prior all classes count the same, and with the empirical one all rows do.
// A class without rows has no error rate, and the means are over the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/classifier.hpp"

namespace HQMM_API hqmm {

/// log P(c | row), row by row.
/// A plain value: any number of threads may read it at a time.
class Posteriors {
 public:
  Posteriors() = default;
  Posteriors(std::size_t rows, std::size_t classes);

  [[nodiscard]] std::size_t rows() const { return classes_ == 0 ? 0 : log_.size() / classes_; }
  [[nodiscard]] std::size_t classes() const { return classes_; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return std::span(log_).subspan(i * classes_, classes_);
  }
  [[nodiscard]] std::span<double> row(std::size_t i) {
    return std::span(log_).subspan(i * classes_, classes_);
  }
  /// The most probable class; of equal ones the first.
  [[nodiscard]] std::uint32_t decision(std::size_t i) const;
  /// Its probability.
  [[nodiscard]] double confidence(std::size_t i) const;

 private:
  std::size_t classes_ = 0;
  std::vector<double> log_;
};

struct Estimate {
  double value = 0.0;
  double standard_error = 0.0;  // over rows, taken as independent
};

struct CalibrationBin {
  double from = 0.0, to = 0.0;  // of the top posterior
  std::size_t rows = 0;
  double weight = 0.0;      // share of the weights
  double confidence = 0.0;  // weighted mean of the top posterior
  double accuracy = 0.0;    // weighted share of right decisions
};

/// The figures when only decisions of at least this probability are given.
struct Abstention {
  double threshold = 0.0;
  double answered = 0.0;             // share of the rows
  std::optional<double> error;       // of the answered rows
  std::optional<double> mean_class;  // mean over the classes with an answered row
};

struct Classification {
  std::vector<std::vector<std::uint64_t>> confusion;  // [class][decision]
  std::vector<std::optional<Estimate>> class_errors;  // nothing for a class without rows
  Estimate mean_class_error;
  Estimate overall_error;
  double log_loss = 0.0;  // nats, weighted; a posterior under 1e-15 counts as that
  std::vector<CalibrationBin> calibration;
  double calibration_error = 0.0;  // Σ_bins weight · |confidence − accuracy|
};

/// labels: the class of every row, an index below posteriors.classes(). priors: those of the
/// posteriors, by class.
[[nodiscard]] Classification judge(const Posteriors& posteriors,
                                   std::span<const std::uint32_t> labels,
                                   std::span<const double> priors);
[[nodiscard]] Abstention abstain(const Posteriors& posteriors,
                                 std::span<const std::uint32_t> labels, double threshold);

/// log P(c | x) of every row of a set; c in the order of classifier.classes.
[[nodiscard]] Posteriors posteriors_of(const Classifier& classifier, const SequenceSet& set,
                                       int threads = 0);

}  // namespace hqmm
