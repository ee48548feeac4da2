// Small-sample statistics for comparing models: spread over seeds, paired tests over sequences and
// the correction for testing many things at once.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hqmm::detail {

struct Spread {
  std::size_t count = 0;
  double mean = 0.0;
  std::optional<double> deviation;       // sample standard deviation; needs two values
  std::optional<double> standard_error;  // of the mean
};
[[nodiscard]] Spread spread(std::span<const double> values);

/// Student's paired t test of mean(a − b) = 0, two-sided. Without spread in the differences t does
/// not exist, and p is 1 when they are all zero, else 0.
struct PairedTest {
  std::size_t pairs = 0;
  double difference = 0.0;      // mean of a − b
  double standard_error = 0.0;  // of that mean
  std::optional<double> t;
  double p = 1.0;
};
/// The two have the same size, at least two values.
[[nodiscard]] PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

/// A mean per unit of weight, Σ values / Σ weights: bits per symbol over sequences of any lengths.
struct WeightedMean {
  double mean = 0.0;
  std::optional<double> standard_error;  // of that ratio; needs two values
};
/// The two have the same size.
[[nodiscard]] WeightedMean weighted_mean(std::span<const double> values,
                                         std::span<const double> weights);

/// Holm's step-down correction: p values that may be read one by one although a whole family was
/// tested.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

/// P(|T| ≥ |t|) for Student's distribution.
[[nodiscard]] double student_two_sided(double t, double degrees);

}  // namespace hqmm::detail
