#include "hqmm/stiefel/planes.hpp"

#include <gtest/gtest.h>

#include "hqmm/stiefel/gram.hpp"
#include "stiefel/random_stack.hpp"

namespace hqmm {
namespace {

using testing::distance;
using testing::gaussian;

constexpr double kTight = 1e-12;

TEST(Planes, RoundTripKeepsEveryBit) {
  RandomStream random(1, Purpose::kTest);
  for (Index rows = 1; rows < 10; ++rows) {
    for (Index cols = 1; cols < 10; ++cols) {
      const Stack z = gaussian(rows, cols, random);
      EXPECT_EQ(Planes(z).to_stack(), z);
    }
  }
}

TEST(Planes, ProductsAgreeWithEigen) {
  RandomStream random(2, Purpose::kTest);
  for (int trial = 0; trial < 300; ++trial) {
    const auto size = [&] { return 1 + static_cast<Index>(random.below(21)); };
    const Index rows = size();
    const Index depth = size();
    const Index cols = size();
    const Stack a = gaussian(rows, depth, random);
    const Stack b = gaussian(depth, cols, random);
    const Stack same_rows = gaussian(rows, cols, random);
    Planes product(rows, cols);
    multiply(Planes(a), Planes(b), product);
    EXPECT_LT(distance(product.to_stack(), a * b), kTight) << rows << ' ' << depth << ' ' << cols;
    Planes cross(depth, cols);
    multiply_adjoint(Planes(a), Planes(same_rows), cross);
    EXPECT_LT(distance(cross.to_stack(), a.adjoint() * same_rows), kTight);
  }
}

TEST(Planes, HermitianProductsAreExactlyHermitian) {
  RandomStream random(3, Purpose::kTest);
  for (Index n = 1; n <= 40; ++n) {
    const Stack z = gaussian(3 * n, n, random);
    const Stack naive = z.adjoint() * z;
    const Matrix h = gram(z);
    EXPECT_LT(distance(h, naive), kTight * static_cast<double>(n));
    EXPECT_EQ(h, h.adjoint().eval());
    const Planes planes{Stack(h)};
    Planes square(n, n);
    multiply_hermitian(planes, planes, square);
    EXPECT_LT(distance(square.to_stack(), h * h), 1e-13 * h.squaredNorm());
    EXPECT_EQ(square.to_stack(), square.to_stack().adjoint().eval());
    EXPECT_NEAR(distance_from_identity(planes), (h - Matrix::Identity(n, n)).norm(),
                1e-14 * h.norm());
  }
}

TEST(Gram, SafeScaleBringsExtremeEntriesToOrdinarySize) {
  RandomStream random(4, Purpose::kTest);
  const Stack z = gaussian(6, 2, random);
  EXPECT_EQ(safe_scale(z), 1.0);
  for (const double size : {1e-320, 1e-200, 1e200, 1e307}) {
    const Stack scaled = safe_scale(z * size) * (z * size);
    EXPECT_TRUE(has_safe_squares(scaled.squaredNorm())) << size;
  }
}

}  // namespace
}  // namespace hqmm
