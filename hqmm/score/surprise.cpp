#include "hqmm/score/surprise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hqmm {
using namespace detail;

double surprise(const StepWeight& weight) {
  if (!(weight.raw > 0.0)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, -std::log2(weight.raw / weight.total));
}

void SurpriseWindow::clear() {
  ring_.clear();
  oldest_ = 0;
  infinite_ = 0;
  sum_ = 0.0;
}

void SurpriseWindow::add(double bits) {
  count(bits, 1);
  if (!full()) {
    ring_.push_back(bits);
    return;
  }
  count(ring_[oldest_], -1);
  ring_[oldest_] = bits;
  oldest_ = (oldest_ + 1) % size_;
  if (oldest_ == 0) sum_again();
}

void SurpriseWindow::count(double bits, int times) {
  if (std::isinf(bits)) {
    infinite_ += times;
  } else {
    sum_ += times * bits;
  }
}

/// Once a round, so that rounding does not add up.
void SurpriseWindow::sum_again() {
  sum_ = 0.0;
  for (const double bits : ring_)
    if (!std::isinf(bits)) sum_ += bits;
}

double SurpriseWindow::mean() const {
  if (ring_.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (infinite_ > 0) return std::numeric_limits<double>::infinity();
  return sum_ / static_cast<double>(ring_.size());
}

}  // namespace hqmm
