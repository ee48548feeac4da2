// Square: a small complex matrix for the kernels, n × n, re and im side by side.
//
// Rows begin on cache lines and are padded with zeros, which the kernels keep. Memory is kept when
// the size changes.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm {

class Square {
 public:
  Square() = default;
  explicit Square(Index n) { resize(n); }

  /// n × n zeros; leaves the values alone when that is the size already.
  void resize(Index n) {
    if (n == n_) return;
    n_ = n;
    lines_per_row_ = (2 * n + kLine - 1) / kLine;
    // Rows an even number of lines apart would crowd into a part of the cache.
    if (lines_per_row_ >= 8) lines_per_row_ |= 1;
    lines_.assign(static_cast<std::size_t>(n * lines_per_row_), Line{});
  }
  void set_identity() {
    std::fill(lines_.begin(), lines_.end(), Line{});
    for (Index i = 0; i < n_; ++i) data()[i * (stride() + 2)] = 1.0;
  }

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Numbers (not complex ones) from one row to the next, a multiple of 8.
  [[nodiscard]] Index stride() const noexcept { return lines_per_row_ * kLine; }
  [[nodiscard]] double* data() noexcept { return lines_.empty() ? nullptr : lines_.front().values; }
  [[nodiscard]] const double* data() const noexcept {
    return lines_.empty() ? nullptr : lines_.front().values;
  }
  [[nodiscard]] Complex operator()(Index i, Index j) const {
    assert(i < n_ && j < n_);
    const double* at = data() + i * stride() + 2 * j;
    return {at[0], at[1]};
  }
  [[nodiscard]] Matrix to_matrix() const {
    Matrix out(n_, n_);
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) out(i, j) = (*this)(i, j);
    return out;
  }

 private:
  static constexpr Index kLine = 8;
  struct alignas(64) Line {
    double values[kLine] = {};
  };
  Index n_ = 0;
  Index lines_per_row_ = 0;
  std::vector<Line> lines_;
};

}  // namespace hqmm
