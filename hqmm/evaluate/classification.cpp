#include "hqmm/evaluate/classification.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "hqmm/evaluate/paired_errors.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kLeastPosterior = 1e-15;

std::vector<std::uint64_t> count_rows(std::span<const std::uint32_t> labels, std::size_t classes) {
  std::vector<std::uint64_t> out(classes);
  for (const std::uint32_t label : labels) ++out[label];
  return out;
}

double present(const std::vector<std::uint64_t>& rows) {
  return static_cast<double>(rows.size()) -
         static_cast<double>(std::count(rows.begin(), rows.end(), 0U));
}

/// A share of n rows, with the standard error of a binomial one.
Estimate share(std::uint64_t count, std::uint64_t n) {
  const double p = static_cast<double>(count) / static_cast<double>(n);
  return {p, std::sqrt(p * (1.0 - p) / static_cast<double>(n))};
}

void fill_errors(const std::vector<std::uint64_t>& rows, Classification& out) {
  std::uint64_t wrong = 0, total = 0;
  double sum = 0.0, variance = 0.0;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    out.class_errors.emplace_back();
    if (rows[c] == 0) continue;
    const std::uint64_t errors = rows[c] - out.confusion[c][c];
    out.class_errors.back() = share(errors, rows[c]);
    sum += out.class_errors.back()->value;
    variance += std::pow(out.class_errors.back()->standard_error, 2);
    wrong += errors;
    total += rows[c];
  }
  if (total == 0) return;
  out.mean_class_error = {sum / present(rows), std::sqrt(variance) / present(rows)};
  out.overall_error = share(wrong, total);
}

/// Weights that sum to 1: those of class c to its prior among the classes that have rows.
std::vector<double> row_weights(std::span<const std::uint32_t> labels,
                                const std::vector<std::uint64_t>& rows,
                                std::span<const double> priors) {
  double known = 0.0;
  for (std::size_t c = 0; c < rows.size(); ++c)
    if (rows[c] > 0) known += priors[c];
  std::vector<double> out;
  out.reserve(labels.size());
  for (const std::uint32_t label : labels)
    out.push_back(priors[label] / known / static_cast<double>(rows[label]));
  return out;
}

void fill_calibration(const Posteriors& posteriors, std::span<const std::uint32_t> labels,
                      std::span<const double> weights, Classification& out) {
  out.calibration.resize(kCalibrationBins);
  for (std::size_t b = 0; b < kCalibrationBins; ++b) {
    out.calibration[b].from = static_cast<double>(b) / kCalibrationBins;
    out.calibration[b].to = static_cast<double>(b + 1) / kCalibrationBins;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double top = posteriors.confidence(i);
    const auto bin = static_cast<std::size_t>(top * kCalibrationBins);
    CalibrationBin& at = out.calibration[std::min(bin, kCalibrationBins - 1)];
    ++at.rows;
    at.weight += weights[i];
    at.confidence += weights[i] * top;
    if (posteriors.decision(i) == labels[i]) at.accuracy += weights[i];
  }
  for (CalibrationBin& bin : out.calibration) {
    out.calibration_error += std::abs(bin.confidence - bin.accuracy);
    if (bin.rows == 0) continue;
    bin.confidence /= bin.weight;
    bin.accuracy /= bin.weight;
  }
}

}  // namespace

Posteriors::Posteriors(std::size_t rows, std::size_t classes)
    : classes_(classes), log_(rows * classes, -std::numeric_limits<double>::infinity()) {}

std::uint32_t Posteriors::decision(std::size_t i) const {
  const std::span<const double> all = row(i);
  return static_cast<std::uint32_t>(std::max_element(all.begin(), all.end()) - all.begin());
}

double Posteriors::confidence(std::size_t i) const { return std::exp(row(i)[decision(i)]); }

Classification judge(const Posteriors& posteriors, std::span<const std::uint32_t> labels,
                     std::span<const double> priors) {
  assert(posteriors.rows() == labels.size() && priors.size() == posteriors.classes());
  const std::size_t classes = posteriors.classes();
  const std::vector<std::uint64_t> rows = count_rows(labels, classes);
  Classification out;
  out.confusion.assign(classes, std::vector<std::uint64_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i)
    ++out.confusion[labels[i]][posteriors.decision(i)];
  fill_errors(rows, out);
  const std::vector<double> weights = row_weights(labels, rows, priors);
  for (std::size_t i = 0; i < labels.size(); ++i)
    out.log_loss -= weights[i] * std::max(posteriors.row(i)[labels[i]], std::log(kLeastPosterior));
  fill_calibration(posteriors, labels, weights, out);
  return out;
}

Abstention abstain(const Posteriors& posteriors, std::span<const std::uint32_t> labels,
                   double threshold) {
  std::vector<std::uint64_t> answered(posteriors.classes()), wrong(posteriors.classes());
  std::uint64_t total = 0, total_wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (posteriors.confidence(i) < threshold) continue;
    const bool error = posteriors.decision(i) != labels[i];
    ++answered[labels[i]];
    ++total;
    if (error) {
      ++wrong[labels[i]];
      ++total_wrong;
    }
  }
  Abstention out;
  out.threshold = threshold;
  if (total == 0) return out;
  out.answered = static_cast<double>(total) / static_cast<double>(labels.size());
  out.error = static_cast<double>(total_wrong) / static_cast<double>(total);
  double sum = 0.0;
  for (std::size_t c = 0; c < answered.size(); ++c)
    if (answered[c] > 0) sum += static_cast<double>(wrong[c]) / static_cast<double>(answered[c]);
  out.mean_class = sum / present(answered);
  return out;
}

PairedErrors detail::compare(const Posteriors& a, const Posteriors& b,
                             std::span<const std::uint32_t> labels) {
  const std::vector<std::uint64_t> rows = count_rows(labels, a.classes());
  std::vector<std::uint64_t> only_a(rows.size()), only_b(rows.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool a_wrong = a.decision(i) != labels[i];
    const bool b_wrong = b.decision(i) != labels[i];
    if (a_wrong && !b_wrong) ++only_a[labels[i]];
    if (b_wrong && !a_wrong) ++only_b[labels[i]];
  }
  PairedErrors out;
  double variance = 0.0;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    out.only_a_wrong += only_a[c];
    out.only_b_wrong += only_b[c];
    if (rows[c] == 0) continue;
    // The difference of a row is +1, 0 or −1.
    const auto n = static_cast<double>(rows[c]);
    const double mean = (static_cast<double>(only_a[c]) - static_cast<double>(only_b[c])) / n;
    const double square = static_cast<double>(only_a[c] + only_b[c]) / n;
    out.difference += mean;
    if (rows[c] > 1) variance += (square - mean * mean) / (n - 1.0);
  }
  if (labels.empty()) return out;
  out.difference /= present(rows);
  out.standard_error = std::sqrt(variance) / present(rows);
  if (out.standard_error > 0.0) {
    out.p = std::erfc(std::abs(out.difference) / out.standard_error / std::sqrt(2.0));
  } else {
    out.p = out.difference == 0.0 ? 1.0 : 0.0;
  }
  out.mcnemar_p = mcnemar_exact(out.only_a_wrong, out.only_b_wrong);
  return out;
}

double detail::mcnemar_exact(std::uint64_t a, std::uint64_t b) {
  const auto n = static_cast<double>(a + b);
  double tail = 0.0;
  for (std::uint64_t k = 0; k <= std::min(a, b); ++k) {
    const auto i = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) -
                     n * std::log(2.0));
  }
  return std::min(1.0, 2.0 * tail);
}

}  // namespace hqmm
