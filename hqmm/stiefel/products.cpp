#include "hqmm/stiefel/products.hpp"

#include <algorithm>
#include <cassert>

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/stiefel/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hqmm/stiefel/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

/// Rows of a tall matrix that are taken through all columns before the next ones: 128 KiB of them
/// stay in the second-level cache.
Index panel_rows(Index n) { return std::max<Index>(64, 8192 / n); }

double* numbers(Stack& z) { return reinterpret_cast<double*>(z.data()); }

void tall_product(const Stack& a, const Square& b, Stack& c, double s, const Term& x,
                  const Term& y) {
  const Index n = c.cols();
  const Index step = panel_rows(n);
  Product o{Operand(a).at, 2 * n, 2, b, numbers(c), 2 * n, 0, n, 2 * n, false, s, x, y};
  for (Index i = 0; i < c.rows(); i += step) {
    o.rows = std::min(step, c.rows() - i);
    run<false>(o);
    o.a += step * o.row_step;
    o.c += step * o.c_stride;
    if (x.at != nullptr) o.x.at += step * x.stride;
    if (y.at != nullptr) o.y.at += step * y.stride;
  }
}

void adjoint_product(const Stack& a, const Stack& b, const Square& c, bool hermitian) {
  const Index n = c.size();
  const Index step = panel_rows(n);
  Product o{Operand(a).at, 2, 2 * n, b, c.data(), c.stride(), n, 0, 2 * n, hermitian, 1.0, {}, {}};
  for (Index k = 0; k < a.rows(); k += step) {
    o.depth = std::min(step, a.rows() - k);
    run<true>(o);
    o.a += step * o.depth_step;
    o.b.at += step * o.b.stride;
    o.x = Term(1.0, c);  // later panels add to the first
  }
  if (hermitian) mirror(c);
}

void blend_numbers(double a, const double* x, double b, double* y, Index count) {
  const Wide d;
  const auto by_a = all(d, a);
  const auto by_b = all(d, b);
  Index i = 0;
  for (; i + kWidest <= count; i += kWidest)
    store(mul_add(by_a, load(d, x + i), mul(by_b, load(d, y + i))), d, y + i);
  for (; i < count; ++i) y[i] = a * x[i] + b * y[i];
}

void scale_numbers(double a, double* y, Index count) {
  const Wide d;
  const auto by = all(d, a);
  Index i = 0;
  for (; i + kWidest <= count; i += kWidest) store(mul(by, load(d, y + i)), d, y + i);
  for (; i < count; ++i) y[i] *= a;
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(tall_product);
HWY_EXPORT(adjoint_product);
HWY_EXPORT(blend_numbers);
HWY_EXPORT(scale_numbers);

void multiply(const Stack& a, const Square& b, Stack& c, double s, const Term& x, const Term& y) {
  assert(a.cols() == b.size() && c.rows() == a.rows() && c.cols() == b.size() && &c != &a);
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(tall_product)(a, b, c, s, x, y);
}

void multiply_adjoint(const Stack& a, const Stack& b, const Square& c) {
  assert(a.rows() == b.rows() && a.cols() == b.cols() && c.size() == a.cols());
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(adjoint_product)(a, b, c, false);
}

void gram(const Stack& z, const Square& h) {
  assert(h.size() == z.cols());
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(adjoint_product)(z, z, h, true);
}

void blend(double a, const Stack& x, double b, Stack& y) {
  assert(x.rows() == y.rows() && x.cols() == y.cols());
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(blend_numbers)
  (a, Operand(x).at, b, reinterpret_cast<double*>(y.data()), 2 * y.size());
}

void scale(double a, Stack& y) {
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(scale_numbers)(a, reinterpret_cast<double*>(y.data()), 2 * y.size());
}

}  // namespace hqmm::detail
#endif
