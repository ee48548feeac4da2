// The panel kernel against three loops. The entries are small whole numbers, whose sums are exact
// in any order, so that the results must be equal and not only close.
#include "hqmm/core/panels.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <vector>

#include "hqmm/core/random.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kPanelsSeed = 77;
constexpr double kGuard = -12345.5;  // what must not be touched

double whole_number(RandomStream& random) { return static_cast<double>(random.below(41)) - 20.0; }

std::vector<double> whole_numbers(Index size, RandomStream& random) {
  std::vector<double> out(static_cast<std::size_t>(size));
  for (double& x : out) x = whole_number(random);
  return out;
}

struct Shape {
  Index rows, depth, cols;
  bool transposed, scattered, add;

  [[nodiscard]] std::string text() const {
    return fmt::format("{}×{}×{}{}{}{}", rows, depth, cols, transposed ? " transposed" : "",
                       scattered ? " scattered" : "", add ? " added" : "");
  }
};

/// A product of this shape, its memory, and what it should give.
class Case {
 public:
  Case(const Shape& shape, RandomStream& random) : shape_(shape) {
    product_.rows = shape.rows;
    product_.depth = shape.depth;
    product_.cols = shape.cols;
    product_.add = shape.add;
    write_left(random);
    write_right(random);
    write_out(random);
  }

  void expect_as_three_loops() {
    std::vector<double> expected = out_;
    for (Index c = 0; c < shape_.cols; ++c) {
      double* column = expected.data() + places_[static_cast<std::size_t>(c)];
      for (Index i = 0; i < shape_.rows; ++i) {
        double sum = shape_.add ? column[i] : 0.0;
        for (Index k = 0; k < shape_.depth; ++k) {
          sum += product_.left[k * product_.left_stride + i] *
                 product_.right[k * product_.depth_step + c * product_.col_step];
        }
        column[i] = sum;
      }
    }
    panel_kernel()(product_);
    EXPECT_EQ(out_, expected);  // guards between and after the columns too
  }

 private:
  void write_left(RandomStream& random) {
    product_.left_stride = shape_.rows + static_cast<Index>(random.below(9));
    left_ = whole_numbers(3 + product_.left_stride * (shape_.depth + 1), random);
    product_.left = left_.data() + random.below(3);  // at no particular address
  }
  void write_right(RandomStream& random) {
    const Index gap = static_cast<Index>(random.below(4));
    product_.depth_step = shape_.transposed ? shape_.cols + gap : 1;
    product_.col_step = shape_.transposed ? 1 : shape_.depth + gap;
    right_ = whole_numbers((shape_.depth + gap + 1) * (shape_.cols + gap + 1), random);
    product_.right = right_.data();
  }
  void write_out(RandomStream& random) {
    product_.out_stride = shape_.rows + static_cast<Index>(random.below(9));
    out_.assign(static_cast<std::size_t>(product_.out_stride * (shape_.cols + 1)), kGuard);
    for (Index c = 0; c < shape_.cols; ++c)
      places_.push_back(static_cast<std::size_t>(c * product_.out_stride));
    if (shape_.scattered) {
      for (std::size_t c = places_.size(); c > 1; --c)
        std::swap(places_[c - 1], places_[random.below(c)]);
      for (const std::size_t place : places_) scatter_.push_back(out_.data() + place);
      product_.scatter = scatter_.data();
    } else {
      product_.out = out_.data();
    }
    for (const std::size_t place : places_) {  // whatever was there, unless it is added to
      for (Index i = 0; i < shape_.rows; ++i)
        out_[place + static_cast<std::size_t>(i)] = whole_number(random);
    }
  }

  Shape shape_;
  PanelProduct product_;
  std::vector<double> left_, right_, out_;
  std::vector<double*> scatter_;
  std::vector<std::size_t> places_;  // of the columns in out_
};

TEST(Panels, MultiplyAsThreeLoopsDo) {
  RandomStream random(kPanelsSeed, Purpose::kTest, 1);
  for (Index rows = kRowUnit; rows <= 72; rows += kRowUnit) {
    for (Index cols = 1; cols <= 20; ++cols) {
      for (const Index depth : {0, 1, 2, 3, 4, 7, 16, 33}) {
        const Shape shape{
            rows, depth, cols, random.below(2) == 1, random.below(2) == 1, random.below(2) == 1};
        SCOPED_TRACE(shape.text());
        Case(shape, random).expect_as_three_loops();
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Panels, MultiplyLargeMatricesAsThreeLoopsDo) {
  RandomStream random(kPanelsSeed, Purpose::kTest, 2);
  for (const Index rows : {100, 128, 144, 256, 400}) {
    for (const Index cols : {1, 31, 64, 129}) {
      for (const Index depth : {1, 63, 256}) {
        for (const bool transposed : {false, true}) {
          const Shape shape{rows, depth, cols, transposed, cols == 31, depth == 63};
          SCOPED_TRACE(shape.text());
          Case(shape, random).expect_as_three_loops();
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// The lower half is that of the whole product; what stands above is anybody's.
TEST(Panels, MultiplyTheLowerHalf) {
  std::uint64_t index = 9000;
  for (const Index n : {1, 3, 4, 7, 8, 11, 12, 16, 20, 29, 39, 64, 65}) {
    RandomStream random(kPanelsSeed, Purpose::kTest, ++index);
    const Index stride = column_stride(n);
    const std::vector<double> left = whole_numbers(stride * n, random);
    const std::vector<double> right = whole_numbers(stride * n, random);
    std::vector<double> whole(static_cast<std::size_t>(stride * n), 0.0);
    std::vector<double> half = whole;
    PanelProduct product{.rows = padded_rows(n), .depth = n, .cols = n, .left = left.data()};
    product.left_stride = product.col_step = product.out_stride = stride;
    product.right = right.data();
    product.out = whole.data();
    panel_kernel()(product);
    product.out = half.data();
    product.lower = true;
    panel_kernel()(product);
    for (Index j = 0; j < n; ++j) {
      for (Index i = j; i < n; ++i) {
        const auto at = static_cast<std::size_t>(j * stride + i);
        ASSERT_EQ(half[at], whole[at]) << n << ": " << i << ", " << j;
      }
    }
  }
}

/// Work space is not cleared before it is written: what it held must not come through.
TEST(Panels, WhatIsOverwrittenMayBeAnything) {
  const std::vector<double> left(32, 1.0);
  const std::vector<double> right(8, 2.0);
  std::vector<double> out(16, std::numeric_limits<double>::quiet_NaN());
  PanelProduct product{.rows = 8, .depth = 4, .cols = 2};
  product.left = left.data();
  product.left_stride = 8;
  product.right = right.data();
  product.col_step = 4;
  product.out = out.data();
  product.out_stride = 8;
  panel_kernel()(product);
  EXPECT_EQ(out, std::vector<double>(16, 8.0));
  product.depth = 0;
  out.assign(16, std::numeric_limits<double>::infinity());
  panel_kernel()(product);
  EXPECT_EQ(out, std::vector<double>(16, 0.0));
}

TEST(Panels, ZerosStayZerosInThePadding) {
  std::vector<double> left(16, 0.0);
  for (const std::size_t k : {0U, 1U, 8U, 9U}) left[k] = 3.0;  // two rows of each of two columns
  const std::vector<double> right = {1.0, -1.0};
  std::vector<double> out(8, 7.0);
  PanelProduct product{.rows = padded_rows(2), .depth = 2, .cols = 1};
  product.left = left.data();
  product.left_stride = 8;
  product.right = right.data();
  product.out = out.data();
  product.out_stride = 8;
  panel_kernel()(product);
  EXPECT_EQ(out, (std::vector<double>{0.0, 0.0, 0.0, 0.0, 7.0, 7.0, 7.0, 7.0}));
}

TEST(Panels, StridesHoldTheRowsInWholeCacheLines) {
  for (Index rows = 1; rows <= 600; ++rows) {
    EXPECT_GE(column_stride(rows), padded_rows(rows));
    EXPECT_EQ(column_stride(rows) % 8, 0);
    EXPECT_LT(column_stride(rows), rows + 16);
    EXPECT_GE(padded_rows(rows), rows);
    EXPECT_LT(padded_rows(rows), rows + kRowUnit);
  }
}

TEST(Panels, DotIsTheSumOverTheColumns) {
  RandomStream random(kPanelsSeed, Purpose::kTest, 3);
  for (Index rows = kRowUnit; rows <= 72; rows += kRowUnit) {
    for (const Index cols : {0, 1, 2, 5}) {
      const Index stride = rows + static_cast<Index>(random.below(9));
      const std::vector<double> a = whole_numbers(stride * (cols + 1), random);
      const std::vector<double> b = whole_numbers(stride * (cols + 1), random);
      double expected = 0.0;
      for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
          const auto at = static_cast<std::size_t>(j * stride + i);
          expected += a[at] * b[at];
        }
      }
      EXPECT_EQ(column_dot()(a.data(), b.data(), rows, cols, stride), expected)
          << rows << " × " << cols;
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
