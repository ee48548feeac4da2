// The products of an update against Eigen's, on shapes that meet every vector length, block of rows
// and panel.
#include "hqmm/stiefel/products.hpp"

#include <gtest/gtest.h>

#include "hqmm/stiefel/gram.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::adjoint_product;
using testing::distance;
using testing::fill;
using testing::gaussian;

constexpr double kTight = 1e-13;

struct Shape {
  Index p, n;
};

/// All small ones, and tall ones of more than one panel.
std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (Index n = 1; n <= 12; ++n)
    for (Index p = 1; p <= 30; ++p) out.push_back({p, n});
  for (Index n = 13; n <= 40; ++n) out.push_back({n + 3, n});
  for (const Shape& shape : {Shape{3000, 3}, {1100, 8}, {430, 40}, {150, 130}})
    out.push_back(shape);
  return out;
}

void expect_zero_padding(const Square& a) {
  for (Index i = 0; i < a.size(); ++i)
    for (Index j = 2 * a.size(); j < a.stride(); ++j)
      EXPECT_EQ(a.data()[i * a.stride() + j], 0.0) << "row " << i << ", number " << j;
}

TEST(Products, MultiplyAgreesWithEigen) {
  RandomStream random(1, Purpose::kTest);
  for (const auto& [p, n] : shapes()) {
    SCOPED_TRACE(::testing::Message() << p << " x " << n);
    const Stack a = gaussian(p, n, random);
    const Stack b = gaussian(n, n, random);
    const Stack x = gaussian(p, n, random);
    const Stack y = gaussian(p, n, random);
    SquareMemory memory(n, 1);
    fill(memory[0], b);
    const Stack product = testing::product(a, Matrix(b));
    const double size = static_cast<double>(n);
    Stack c = gaussian(p, n, random);
    multiply(a, memory[0], c);
    EXPECT_LT(distance(c, product), kTight * size);
    multiply(a, memory[0], c, -0.3);
    EXPECT_LT(distance(c, -0.3 * product), kTight * size);
    multiply(a, memory[0], c, 1.0, {0.5, x});
    EXPECT_LT(distance(c, product + 0.5 * x), kTight * size);
    multiply(a, memory[0], c, 2.0, {-0.7, x}, {0.1, y});
    EXPECT_LT(distance(c, 2.0 * product - 0.7 * x + 0.1 * y), kTight * size);
    c = x;
    multiply(a, memory[0], c, 1.0, {0.9, c}, {0.1, y});
    EXPECT_LT(distance(c, product + 0.9 * x + 0.1 * y), kTight * size) << "into a term";
  }
}

TEST(Products, AdjointAgreesWithEigen) {
  RandomStream random(2, Purpose::kTest);
  for (const auto& [p, n] : shapes()) {
    const Stack a = gaussian(p, n, random);
    const Stack b = gaussian(p, n, random);
    SquareMemory memory(n, 1);
    fill(memory[0], gaussian(n, n, random));
    multiply_adjoint(a, b, memory[0]);
    EXPECT_LT(distance(to_matrix(memory[0]), adjoint_product(a, b)),
              kTight * static_cast<double>(p))
        << p << " x " << n;
    expect_zero_padding(memory[0]);
  }
}

TEST(Products, GramIsExactlyHermitian) {
  RandomStream random(3, Purpose::kTest);
  for (const auto& [p, n] : shapes()) {
    const Stack z = gaussian(p, n, random);
    SquareMemory memory(n, 1);
    fill(memory[0], gaussian(n, n, random));
    gram(z, memory[0]);
    const Matrix h = to_matrix(memory[0]);
    EXPECT_LT(distance(h, adjoint_product(z, z)), kTight * static_cast<double>(p))
        << p << " x " << n;
    EXPECT_TRUE(h == h.adjoint()) << p << " x " << n;
    EXPECT_TRUE(h == gram(z));
    expect_zero_padding(memory[0]);
  }
}

TEST(Products, BlendAndScale) {
  RandomStream random(4, Purpose::kTest);
  for (Index size = 1; size <= 20; ++size) {
    const Stack x = gaussian(size, 1, random);
    Stack y = gaussian(size, 1, random);
    const Stack expected = 0.3 * x - 2.0 * y;
    blend(0.3, x, -2.0, y);
    EXPECT_LT(distance(y, expected), 1e-15) << size;
    scale(-0.25, y);
    EXPECT_LT(distance(y, -0.25 * expected), 1e-15) << size;
  }
}

TEST(Squares, RowsBeginOnCacheLinesAndANewSizeIsZero) {
  RandomStream random(5, Purpose::kTest);
  SquareMemory memory;
  for (const Index n : {5, 1, 3, 32, 40, 6}) {
    memory.resize(n, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory[i].data()) % 64, 0U);
      EXPECT_EQ(memory[i].stride() % 8, 0);
      EXPECT_GE(memory[i].stride(), 2 * n);
      EXPECT_TRUE(to_matrix(memory[i]).isZero(0.0)) << n;
      expect_zero_padding(memory[i]);
    }
    const Stack b = gaussian(n, n, random);
    fill(memory[1], b);
    EXPECT_TRUE(to_matrix(memory[1]) == b);
    EXPECT_TRUE(to_matrix(memory[2]).isZero(0.0));
  }
}

TEST(Gram, SafeScaleBringsExtremeEntriesToOrdinarySize) {
  RandomStream random(6, Purpose::kTest);
  const Stack z = gaussian(6, 2, random);
  EXPECT_EQ(safe_scale(z), 1.0);
  for (const double size : {1e-320, 1e-200, 1e-70, 1e70, 1e200, 1e307}) {
    const Stack scaled = safe_scale(z * size) * (z * size);
    EXPECT_TRUE(has_safe_squares(scaled.squaredNorm())) << size;
  }
}

}  // namespace
}  // namespace hqmm::detail
