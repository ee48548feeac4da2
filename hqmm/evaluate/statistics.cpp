#include "hqmm/evaluate/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace hqmm::detail {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method; converges fast for
/// x < (a + 1)/(a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kClose = 1e-16;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1.0;
  double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double out = d;
  for (int m = 1; m < 1000; ++m) {
    const double k = m;
    const double even = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    out *= d * c;
    const double odd = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    out *= d * c;
    if (std::abs(d * c - 1.0) < kClose) break;
  }
  return out;
}

/// ln Γ without the global that std::lgamma writes to: Stirling's series after shifting up.
double log_gamma(double x) {
  double shift = 0.0;
  for (; x < 12.0; x += 1.0) shift -= std::log(x);
  const double r = 1.0 / (x * x);
  return shift + (x - 0.5) * std::log(x) - x + 0.91893853320467274178 +
         (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / x;
}

/// I_x(a, b)
double regularised_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

}  // namespace

Spread spread(std::span<const double> values) {
  Spread out;
  out.count = values.size();
  if (values.empty()) return out;
  const auto count = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return out;
  double squares = 0.0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (count - 1.0));
  out.standard_error = *out.deviation / std::sqrt(count);
  return out;
}

double student_two_sided(double t, double degrees) {
  return regularised_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t));
}

PairedTest paired_t_test(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && a.size() >= 2);
  std::vector<double> differences(a.size());
  std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
  const Spread found = spread(differences);
  PairedTest out;
  out.pairs = a.size();
  out.difference = found.mean;
  out.standard_error = found.standard_error.value_or(0.0);
  if (out.standard_error > 0.0) {
    out.t = out.difference / out.standard_error;
    out.p = student_two_sided(*out.t, static_cast<double>(out.pairs - 1));
  } else {
    out.p = out.difference == 0.0 ? 1.0 : 0.0;
  }
  return out;
}

WeightedMean weighted_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    weight += weights[i];
  }
  WeightedMean out;
  out.mean = sum / weight;
  if (values.size() < 2 || !std::isfinite(out.mean)) return out;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    squares += std::pow(values[i] - out.mean * weights[i], 2);
  const auto n = static_cast<double>(values.size());
  out.standard_error = std::sqrt(n / (n - 1.0) * squares) / weight;
  return out;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> out(p.size());
  double least = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    least = std::max(least, std::min(1.0, static_cast<double>(p.size() - k) * p[order[k]]));
    out[order[k]] = least;
  }
  return out;
}

}  // namespace hqmm::detail
