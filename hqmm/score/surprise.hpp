// Surprise: the cost of a symbol under a model, −log₂ P(y | past) bits, and its mean over
// the last symbols. On data like the training data the mean stays near the
// model's bits per symbol; it rises when something else happens.
#pragma once

#include <cstddef>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/model/filter.hpp"

namespace HQMM_API hqmm {

/// Bits; infinite for a symbol of probability 0.
[[nodiscard]] double surprise(const StepWeight& weight);

/// For one thread at a time; a copy for each serves several.
class SurpriseWindow {
 public:
  /// The number of symbols to take the mean over, at least one.
  explicit SurpriseWindow(std::size_t size) : size_(size) {}

  void clear();
  void add(double bits);
  [[nodiscard]] std::size_t count() const noexcept { return ring_.size(); }
  [[nodiscard]] bool full() const noexcept { return ring_.size() == size_; }
  /// Infinite if one of them is infinite; NaN without any symbol.
  [[nodiscard]] double mean() const;

 private:
  void count(double bits, int times);
  void sum_again();

  std::size_t size_;
  std::vector<double> ring_;
  std::size_t oldest_ = 0;
  std::ptrdiff_t infinite_ = 0;
  double sum_ = 0.0;  // of the finite ones
};

}  // namespace hqmm
