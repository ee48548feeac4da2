// Weights to probabilities, for both filters.
#pragma once

#include <algorithm>
#include <span>

namespace hqmm::detail {

/// Returns the sum before.
inline double normalise(std::span<double> weights) {
  double sum = 0.0;
  for (double& weight : weights) {
    weight = std::max(weight, 0.0);  // rounding can leave −1e-17
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return sum;
}

}  // namespace hqmm::detail
