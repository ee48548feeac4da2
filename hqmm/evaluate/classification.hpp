// How good a classifier's posterior probabilities are on rows whose class is known.
//
// Errors: every class has an error rate; their mean does not care how frequent the classes are.
// Probabilities: log loss and calibration are expectations, and mean something only when the rows
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

namespace hqmm {

/// log P(c | row), row by row.
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
inline constexpr std::size_t kCalibrationBins = 15;

/// What happens when only decisions of at least this probability are given.
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

/// Two methods on the same rows.
struct PairedErrors {
  double difference = 0.0;  // mean class error of a − that of b
  double standard_error = 0.0;
  double p = 1.0;  // two-sided, normal; of the class-weighted difference
  std::uint64_t only_a_wrong = 0, only_b_wrong = 0;
  double mcnemar_p = 1.0;  // exact, every row counting the same
};
[[nodiscard]] PairedErrors compare(const Posteriors& a, const Posteriors& b,
                                   std::span<const std::uint32_t> labels);

/// P of a split of n = a + b fair coins at least as uneven as this one, two-sided.
[[nodiscard]] double mcnemar_exact(std::uint64_t a, std::uint64_t b);

}  // namespace hqmm
