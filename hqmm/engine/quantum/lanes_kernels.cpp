#include "hqmm/engine/quantum/lanes_kernels.hpp"

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/engine/quantum/lanes_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kParts = 4 / kLanes;
using V = hn::Vec<D>;

/// y = M x
HWY_INLINE void apply(const double* m, const double* x, double* y) {
  const D d;
  const V x0 = hn::Set(d, x[0]);
  const V x1 = hn::Set(d, x[1]);
  const V x2 = hn::Set(d, x[2]);
  const V x3 = hn::Set(d, x[3]);
  for (int p = 0; p < kParts; ++p, m += kLanes, y += kLanes) {
    const V left = hn::MulAdd(hn::LoadU(d, m + 4), x1, hn::Mul(hn::LoadU(d, m), x0));
    const V right = hn::MulAdd(hn::LoadU(d, m + 12), x3, hn::Mul(hn::LoadU(d, m + 8), x2));
    hn::StoreU(hn::Add(left, right), d, y);
  }
}

/// G += z xᵀ
HWY_INLINE void add_outer(const double* z, const double* x, double* g) {
  const D d;
  for (int p = 0; p < kParts; ++p) {
    const V column = hn::LoadU(d, z + p * kLanes);
    for (int k = 0; k < 4; ++k) {
      double* to = g + 4 * k + p * kLanes;
      hn::StoreU(hn::MulAdd(column, hn::Set(d, x[k]), hn::LoadU(d, to)), d, to);
    }
  }
}

template <int kCount>
HWY_INLINE void forward_side(const LanesStretch& s) {
  for (std::size_t t = s.from; t < s.to; ++t)
    for (int b = 0; b < kCount; ++b)
      apply(s.matrices + 16 * s.steps[b][t], s.states[b] + 4 * t, s.states[b] + 4 * t + 4);
}

template <int kCount>
HWY_INLINE void backward_side(const LanesStretch& s) {
  for (std::size_t t = s.to; t-- > s.from;) {
    for (int b = 0; b < kCount; ++b) {
      const std::size_t op = s.steps[b][t];
      add_outer(s.adjoints[b], s.states[b] + 4 * t, s.gradients + 16 * op);
      apply(s.matrices + 16 * op, s.adjoints[b], s.adjoints[b]);
    }
  }
}

void forward(const LanesStretch& s, std::size_t count) {
  count == kLanesSide ? forward_side<kLanesSide>(s) : forward_side<1>(s);
}
void backward(const LanesStretch& s, std::size_t count) {
  count == kLanesSide ? backward_side<kLanesSide>(s) : backward_side<1>(s);
}

/// C (+)= A B
void multiply(const double* a, const double* b, bool add, double* c) {
  double column[4];
  for (int k = 0; k < 4; ++k) {
    apply(a, b + 4 * k, column);
    for (int i = 0; i < 4; ++i) c[4 * k + i] = (add ? c[4 * k + i] : 0.0) + column[i];
  }
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(forward);
HWY_EXPORT(backward);
HWY_EXPORT(multiply);

const LanesKernels& lanes_kernels() {
  static const LanesKernels kernels = [] {
    use_simd_limit();
    return LanesKernels{HWY_DYNAMIC_DISPATCH(forward), HWY_DYNAMIC_DISPATCH(backward),
                        HWY_DYNAMIC_DISPATCH(multiply)};
  }();
  return kernels;
}

}  // namespace hqmm::detail
#endif
