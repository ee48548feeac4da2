// Square: a small complex matrix for the kernels, n × n, re and im side by side; and the memory of
// some of them.
//
// Rows begin on cache lines and are padded with zeros, which the kernels keep.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// A view: copies and swaps are of the place, not of the numbers.
class Square {
 public:
  Square() = default;
  Square(double* at, Index n, Index stride) : at_(at), n_(n), stride_(stride) {}

  [[nodiscard]] Index size() const noexcept { return n_; }
  /// Numbers, two per element, from one row to the next: a multiple of 8.
  [[nodiscard]] Index stride() const noexcept { return stride_; }
  [[nodiscard]] double* data() const noexcept { return at_; }
  [[nodiscard]] Complex operator()(Index i, Index j) const {
    assert(i < n_ && j < n_);
    const double* at = at_ + i * stride_ + 2 * j;
    return {at[0], at[1]};
  }
  void set(Index i, Index j, Complex value) const {
    assert(i < n_ && j < n_);
    double* at = at_ + i * stride_ + 2 * j;
    at[0] = value.real();
    at[1] = value.imag();
  }

 private:
  double* at_ = nullptr;
  Index n_ = 0;
  Index stride_ = 0;
};

/// Memory of `count` squares, zero at first. It is kept when n changes.
class SquareMemory {
 public:
  SquareMemory() = default;
  SquareMemory(Index n, std::size_t count) { resize(n, count); }

  void resize(Index n, std::size_t count) {
    stride_ = (2 * n + kLine - 1) / kLine;
    // Rows an even number of lines apart would crowd into a part of the cache.
    if (stride_ >= 8) stride_ |= 1;
    stride_ *= kLine;
    n_ = n;
    lines_.assign(static_cast<std::size_t>(n * stride_ / kLine) * count, Line{});
  }
  [[nodiscard]] Index size() const noexcept { return n_; }
  [[nodiscard]] Square operator[](std::size_t i) {
    return {lines_[i * static_cast<std::size_t>(n_ * stride_ / kLine)].values, n_, stride_};
  }

 private:
  static constexpr Index kLine = 8;
  struct alignas(64) Line {
    double values[kLine] = {};
  };
  Index n_ = 0;
  Index stride_ = 0;
  std::vector<Line> lines_;
};

[[nodiscard]] inline Matrix to_matrix(const Square& a) {
  Matrix out(a.size(), a.size());
  for (Index i = 0; i < a.size(); ++i)
    for (Index j = 0; j < a.size(); ++j) out(i, j) = a(i, j);
  return out;
}

}  // namespace hqmm::detail
