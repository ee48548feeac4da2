// The product by planes against three loops. The entries are small whole numbers, whose sums are
// exact in any order, so that the results must be equal and not only close.
#include "hqmm/core/planes.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <vector>

#include "hqmm/core/panels.hpp"
#include "hqmm/core/random.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kPlanesSeed = 78;
constexpr double kUntouched = -54321.5;

std::vector<double> plane_numbers(Index size, RandomStream& random) {
  std::vector<double> out(static_cast<std::size_t>(size));
  for (double& x : out) x = static_cast<double>(random.below(41)) - 20.0;
  return out;
}

struct PlaneShape {
  Index rows, depth, cols;
  bool transposed, add, sums, conjugate;

  [[nodiscard]] std::string text() const {
    return fmt::format("{}×{}×{}{}{}{}{}", rows, depth, cols, transposed ? " transposed" : "",
                       add ? " added" : "", sums ? " with sums" : "",
                       conjugate ? " conjugate" : "");
  }
};

/// A product of this shape, its memory, and what it should give.
class PlaneCase {
 public:
  PlaneCase(const PlaneShape& shape, RandomStream& random) : shape_(shape) {
    product_.rows = shape.rows;
    product_.depth = shape.depth;
    product_.cols = shape.cols;
    product_.add = shape.add;
    product_.sums = shape.sums;
    product_.conjugate = shape.conjugate;
    const auto gap = static_cast<Index>(random.below(5));
    product_.left_plane = shape.rows + gap;
    product_.left_stride = 2 * product_.left_plane + gap;
    left_ = plane_numbers(product_.left_stride * (shape.depth + 1), random);
    product_.left = left_.data();
    write_right(gap, random);
    product_.out_plane = shape.rows + gap;
    product_.out_stride = 3 * product_.out_plane + gap;
    out_.assign(static_cast<std::size_t>(product_.out_stride * (shape.cols + 1)), kUntouched);
    product_.out = out_.data();
  }

  void expect_as_three_loops() {
    std::vector<double> expected = out_;
    for (Index c = 0; c < shape_.cols; ++c)
      for (Index i = 0; i < shape_.rows; ++i) write_expected(i, c, expected.data());
    plane_kernels().multiply(product_);
    EXPECT_EQ(out_, expected);  // what lies between the columns too
  }

  /// The lower half is that of the whole product; what stands above is anybody's, but for products
  /// that are small enough.
  void expect_lower_half() {
    std::vector<double> expected = out_;
    for (Index c = 0; c < shape_.cols; ++c)
      for (Index i = 0; i < shape_.rows; ++i) write_expected(i, c, expected.data());
    product_.lower = true;
    plane_kernels().multiply(product_);
    const bool whole = shape_.rows <= plane_kernels().whole;
    for (Index c = 0; c < shape_.cols; ++c) {
      for (Index i = whole ? 0 : c; i < shape_.rows; ++i) {
        const auto at = static_cast<std::size_t>(c * product_.out_stride + i);
        EXPECT_EQ(out_[at], expected[at]) << i << ", " << c;
        const std::size_t at_im = at + static_cast<std::size_t>(product_.out_plane);
        EXPECT_EQ(out_[at_im], expected[at_im]) << i << ", " << c;
      }
    }
  }

 private:
  void write_right(Index gap, RandomStream& random) {
    const Index across = (shape_.transposed ? shape_.cols : shape_.depth) + gap;
    product_.right_plane = across;
    product_.depth_step = shape_.transposed ? 3 * across : 1;
    product_.col_step = shape_.transposed ? 1 : 3 * across;
    const Index columns = shape_.transposed ? shape_.depth : shape_.cols;
    right_ = plane_numbers(3 * across * (columns + 1), random);
    for (Index column = 0; column < columns; ++column) {
      double* re = right_.data() + column * 3 * across;
      for (Index k = 0; k < across; ++k) re[2 * across + k] = re[k] + re[across + k];
    }
    product_.right = right_.data();
  }
  void write_expected(Index i, Index c, double* out) const {
    double* to = out + c * product_.out_stride + i;
    Complex sum = shape_.add ? Complex(to[0], to[product_.out_plane]) : Complex(0.0);
    for (Index k = 0; k < shape_.depth; ++k) {
      const double* l = product_.left + k * product_.left_stride + i;
      const double* r = product_.right + k * product_.depth_step + c * product_.col_step;
      const Complex left(l[0], l[product_.left_plane]);
      sum += (shape_.conjugate ? std::conj(left) : left) * Complex(r[0], r[product_.right_plane]);
    }
    to[0] = sum.real();
    to[product_.out_plane] = sum.imag();
    if (shape_.sums) to[2 * product_.out_plane] = sum.real() + sum.imag();
  }

  PlaneShape shape_;
  PlaneProduct product_;
  std::vector<double> left_, right_, out_;
};

TEST(Planes, MultiplyAsThreeLoopsDo) {
  RandomStream random(kPlanesSeed, Purpose::kTest, 1);
  for (Index rows = kRowUnit; rows <= 40; rows += kRowUnit) {
    for (Index cols = 1; cols <= 20; ++cols) {
      for (const Index depth : {0, 1, 2, 7, 33}) {
        const PlaneShape shape{rows,
                               depth,
                               cols,
                               random.below(2) == 1,
                               random.below(2) == 1,
                               random.below(2) == 1,
                               random.below(2) == 1};
        SCOPED_TRACE(shape.text());
        PlaneCase(shape, random).expect_as_three_loops();
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Planes, MultiplyTheLowerHalf) {
  RandomStream random(kPlanesSeed, Purpose::kTest, 2);
  for (const Index n : {1, 3, 4, 7, 8, 11, 12, 16, 20, 29, 39, 64, 65}) {
    for (const bool add : {false, true}) {
      const PlaneShape shape{padded_rows(n), 9, n, false, add, false, false};
      SCOPED_TRACE(shape.text());
      PlaneCase(shape, random).expect_lower_half();
      if (HasFailure()) return;
    }
  }
}

TEST(Planes, MirrorGivesAHermitianMatrix) {
  RandomStream random(kPlanesSeed, Purpose::kTest, 3);
  for (Index n = 1; n <= 21; ++n) {
    const Index plane = padded_rows(n);
    const Index stride = 2 * plane + 1;
    const std::vector<double> before = plane_numbers(stride * n, random);
    std::vector<double> after = before;
    plane_kernels().mirror(after.data(), n, stride, plane);
    const auto at = [&](const std::vector<double>& x, Index i, Index j) {
      const auto place = static_cast<std::size_t>(j * stride + i);
      return Complex(x[place], x[place + static_cast<std::size_t>(plane)]);
    };
    for (Index j = 0; j < n; ++j) {
      EXPECT_EQ(at(after, j, j), at(before, j, j).real()) << n << ": " << j;
      for (Index i = j + 1; i < n; ++i) {
        EXPECT_EQ(at(after, i, j), at(before, i, j)) << n << ": " << i << ", " << j;
        EXPECT_EQ(at(after, j, i), std::conj(at(before, i, j))) << n << ": " << j << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
