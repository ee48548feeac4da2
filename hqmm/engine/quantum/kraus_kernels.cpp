#include "hqmm/engine/quantum/kraus_kernels.hpp"

#include "hqmm/core/panels.hpp"
#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/engine/quantum/kraus_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kRowUnit>;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));

void scale_columns(const Columns& shape, const double* from, const double* c, double* to) {
  const D d;
  for (Index j = 0; j < shape.cols; ++j, from += shape.stride, to += shape.stride) {
    const auto factor = hn::Set(d, c[j]);
    for (Index i = 0; i < shape.rows; i += kLanes)
      hn::StoreU(hn::Mul(hn::LoadU(d, from + i), factor), d, to + i);
  }
}

void scale_entries(const Columns& shape, const double* rows, const double* c, bool lower,
                   double* x) {
  const D d;
  for (Index j = 0; j < shape.cols; ++j, x += shape.stride) {
    const auto factor = hn::Set(d, c[j]);
    for (Index i = lower ? j / kRowUnit * kRowUnit : 0; i < shape.rows; i += kLanes) {
      // one factor after the other: their product may be below the range of doubles
      const auto scaled = hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, rows + i));
      hn::StoreU(hn::Mul(scaled, factor), d, x + i);
    }
  }
}

void fold(const Columns& shape, const double* sums, const double* v, const double* c,
          double* by_matrix, double* by_c) {
  const D d;
  const Index stride = shape.stride;
  for (Index k = 0; k < shape.cols; ++k, sums += stride, v += stride, by_matrix += stride) {
    for (Index i = 0; i < shape.rows; i += kLanes) {
      const auto sum = hn::LoadU(d, sums + i);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, c + i), sum, hn::LoadU(d, by_matrix + i)), d,
                 by_matrix + i);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, v + i), sum, hn::LoadU(d, by_c + i)), d, by_c + i);
    }
  }
}

void fold_planes(const Columns& shape, const double* sums, const StridedMatrix& adjoint,
                 const double* c, double* by_matrix, double* by_c) {
  const D d;
  const Index plane = shape.rows;
  const double* v = adjoint.values;
  for (Index k = 0; k < shape.cols;
       ++k, sums += shape.stride, v += adjoint.stride, by_matrix += shape.stride) {
    const auto factor = hn::Set(d, c[k]);
    auto product = hn::Zero(d);
    for (Index i = 0; i < plane; i += kLanes) {
      const auto re = hn::LoadU(d, sums + i);
      const auto im = hn::LoadU(d, sums + plane + i);
      product = hn::MulAdd(re, hn::LoadU(d, v + i), product);
      product = hn::NegMulAdd(im, hn::LoadU(d, v + plane + i), product);
      double* to = by_matrix + i;
      hn::StoreU(hn::MulAdd(factor, re, hn::LoadU(d, to)), d, to);
      hn::StoreU(hn::MulAdd(factor, im, hn::LoadU(d, to + plane)), d, to + plane);
    }
    by_c[k] += hn::GetLane(hn::SumOfLanes(d, product));
  }
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(scale_columns);
HWY_EXPORT(scale_entries);
HWY_EXPORT(fold);
HWY_EXPORT(fold_planes);

const KrausKernels& kraus_kernels() {
  static const KrausKernels kernels = [] {
    use_simd_limit();
    return KrausKernels{HWY_DYNAMIC_DISPATCH(scale_columns), HWY_DYNAMIC_DISPATCH(scale_entries),
                        HWY_DYNAMIC_DISPATCH(fold), HWY_DYNAMIC_DISPATCH(fold_planes)};
  }();
  return kernels;
}

}  // namespace hqmm::detail
#endif
