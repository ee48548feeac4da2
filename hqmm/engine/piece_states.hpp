// States at places of a long sequence, and whether two of them are the same (long_pieces.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "hqmm/engine/batch_walk.hpp"

namespace hqmm::detail {

/// Compares states but for what one is a multiple of the other: a phase, of amplitudes.
class Comparison {
 public:
  explicit Comparison(const LinearModel& model)
      : size_(model.squared ? model.block_cols : model.rows),
        complex_(model.squared && model.block_cols < model.rows) {}

  /// Whether b is a multiple of a.
  [[nodiscard]] bool same(const double* a, const double* b) const;

 private:
  [[nodiscard]] Complex at(const double* x, Index i) const {
    return {x[i], complex_ ? x[size_ + i] : 0.0};
  }

  Index size_;
  bool complex_;
};

/// States at places of a sequence.
class Places {
 public:
  void resize(std::size_t count, const LinearModel& model) {
    stride_ = static_cast<std::size_t>(model.stride);
    x_.resize(count * stride_);
    standings_.resize(count);
  }
  void set(std::size_t i, const double* x, const BatchWalk::Standing& standing) {
    std::copy_n(x, stride_, x_.data() + i * stride_);
    standings_[i] = standing;
  }
  void set(std::size_t i, const WalkState& state) {
    set(i, state.x.data(), {state.weight, state.exponent, state.in_doubt});
  }
  [[nodiscard]] const double* x(std::size_t i) const { return x_.data() + i * stride_; }
  [[nodiscard]] const BatchWalk::Standing& standing(std::size_t i) const { return standings_[i]; }
  void get(std::size_t i, WalkState& out) const {
    std::copy_n(x(i), stride_, out.x.begin());
    out.weight = standing(i).weight;
    out.exponent = standing(i).exponent;
  }

 private:
  std::size_t stride_ = 0;
  AlignedDoubles x_;
  std::vector<BatchWalk::Standing> standings_;
};

}  // namespace hqmm::detail
