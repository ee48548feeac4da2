#include "hqmm/core/planes.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "hqmm/core/panels.hpp"
#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/core/planes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hqmm/core/registers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using PlaneTag = hn::ScalableTag<double>;
/// What a stripe of kRowUnit rows takes: half a vector of the widest target.
using PlaneEnd = hn::CappedTag<double, kRowUnit>;
constexpr Index kPlaneLanes = static_cast<Index>(hn::MaxLanes(PlaneTag()));

/// Columns of a tile: three sums for each and vector of rows, a and b, the sign and one broadcast
/// fit the registers.
constexpr int plane_cols(int vectors) {
  const int fit = (kRegisters - 2 * vectors - 2) / (3 * vectors);
  return fit > 8 ? 8 : fit;
}

/// One or two vectors of rows. Vectors and columns by name and by recursion: what a loop touches,
/// GCC may leave in memory.
template <class D, int kVectors>
struct PlaneRows {
  static constexpr Index kStep = static_cast<Index>(hn::MaxLanes(D()));
  hn::Vec<D> first, second;

  HWY_INLINE void clear() {
    first = hn::Zero(D());
    second = hn::Zero(D());
  }
  HWY_INLINE void load(const double* from) {
    first = hn::LoadU(D(), from);
    keep_in_register(first);
    if constexpr (kVectors > 1) {
      second = hn::LoadU(D(), from + kStep);
      keep_in_register(second);
    }
  }
  /// += factor · other
  HWY_INLINE void add(hn::Vec<D> factor, const PlaneRows& other) {
    first = hn::MulAdd(factor, other.first, first);
    if constexpr (kVectors > 1) second = hn::MulAdd(factor, other.second, second);
  }
  HWY_INLINE void keep() {
    keep_in_register(first);
    if constexpr (kVectors > 1) keep_in_register(second);
  }
};

/// One of the three sums of a tile.
template <class D, int kVectors, int kCols>
struct PlaneSum {
  PlaneRows<D, kVectors> at[kCols];

  template <int kCol = 0>
  HWY_INLINE void clear() {
    if constexpr (kCol < kCols) {
      at[kCol].clear();
      clear<kCol + 1>();
    }
  }
  /// += a column of L times a row of B.
  template <int kCol = 0>
  HWY_INLINE void add(const PlaneRows<D, kVectors>& left, const double* right, Index col_step) {
    if constexpr (kCol < kCols) {
      at[kCol].add(hn::Set(D(), right[kCol * col_step]), left);
      add<kCol + 1>(left, right, col_step);
    }
  }
};

/// Rows of a column of C from its P₁, P₂ and P₃.
template <class D>
HWY_INLINE void put_planes(const PlaneProduct& p, hn::Vec<D> re, hn::Vec<D> im, hn::Vec<D> both,
                           hn::Vec<D> sign, double* to) {
  double* to_im = to + p.out_plane;
  hn::Vec<D> real = hn::NegMulAdd(sign, im, re);
  hn::Vec<D> imag = hn::NegMulAdd(sign, im, hn::Sub(both, re));
  if (p.add) {
    real = hn::Add(real, hn::LoadU(D(), to));
    imag = hn::Add(imag, hn::LoadU(D(), to_im));
  }
  hn::StoreU(real, D(), to);
  hn::StoreU(imag, D(), to_im);
  if (p.sums) hn::StoreU(hn::Add(real, imag), D(), to_im + p.out_plane);
}

template <class D, int kVectors, int kCols, int kCol = 0>
HWY_INLINE void put_tile(const PlaneProduct& p, const PlaneSum<D, kVectors, kCols>& re,
                         const PlaneSum<D, kVectors, kCols>& im,
                         const PlaneSum<D, kVectors, kCols>& both, hn::Vec<D> sign, double* to) {
  if constexpr (kCol < kCols) {
    put_planes<D>(p, re.at[kCol].first, im.at[kCol].first, both.at[kCol].first, sign, to);
    if constexpr (kVectors > 1)
      put_planes<D>(p, re.at[kCol].second, im.at[kCol].second, both.at[kCol].second, sign,
                    to + PlaneRows<D, kVectors>::kStep);
    put_tile<D, kVectors, kCols, kCol + 1>(p, re, im, both, sign, to + p.out_stride);
  }
}

/// One tile of C, kept in registers over the whole depth.
template <class D, int kVectors, int kCols>
void plane_tile(const PlaneProduct& p, Index row, Index col) {
  const hn::Vec<D> sign = hn::Set(D(), p.conjugate ? -1.0 : 1.0);
  PlaneSum<D, kVectors, kCols> re, im, both;
  re.clear();
  im.clear();
  both.clear();
  const double* left = p.left + row;
  const double* right = p.right + col * p.col_step;
  const Index col_step = p.col_step;
  for (Index k = 0; k < p.depth; ++k, left += p.left_stride, right += p.depth_step) {
    PlaneRows<D, kVectors> a, b;
    a.load(left);
    re.add(a, right, col_step);
    b.load(left + p.left_plane);
    im.add(b, right + p.right_plane, col_step);
    a.add(sign, b);
    a.keep();
    both.add(a, right + 2 * p.right_plane, col_step);
  }
  put_tile<D, kVectors, kCols>(p, re, im, both, sign, p.out + col * p.out_stride + row);
}

using PlaneTile = void (*)(const PlaneProduct&, Index row, Index col);

struct PlaneStripe {
  Index rows, width;
  const PlaneTile* tiles;  // [columns − 1]
};

template <class D, int kVectors, std::size_t... kCols>
constexpr auto plane_tiles_of(std::index_sequence<kCols...>) {
  return std::array<PlaneTile, sizeof...(kCols)>{
      plane_tile<D, kVectors, static_cast<int>(kCols) + 1>...};
}
template <class D, int kVectors>
constexpr auto kPlaneTiles =
    plane_tiles_of<D, kVectors>(std::make_index_sequence<plane_cols(kVectors)>());
template <class D, int kVectors>
constexpr PlaneStripe kPlaneStripe{kVectors * static_cast<Index>(hn::MaxLanes(D())),
                                   plane_cols(kVectors), kPlaneTiles<D, kVectors>.data()};

/// Two vectors of rows load the least; one follows a diagonal closest.
constexpr PlaneStripe kPair = kPlaneStripe<PlaneTag, 2>;
constexpr PlaneStripe kOne = kPlaneStripe<PlaneTag, 1>;
constexpr PlaneStripe kEnd = kPlaneStripe<PlaneEnd, 1>;

/// Columns [col, end) of a stripe.
HWY_INLINE void multiply_stripe(const PlaneProduct& p, const PlaneStripe& stripe, Index row,
                                Index col, Index end) {
  while (col < end) {
    const Index left_over = end - col;
    Index width = left_over < stripe.width ? left_over : stripe.width;
    // Two tiles of the same width beat a wide one and a sliver.
    if (left_over > width && left_over < 2 * width) width = (left_over + 1) / 2;
    stripe.tiles[width - 1](p, row, col);
    col += width;
  }
}

/// Where the columns of a lower half end that rows up to `below` need.
HWY_INLINE Index lower_end(const PlaneProduct& p, Index below) {
  const Index end = (below + kRowUnit - 1) / kRowUnit * kRowUnit;
  return p.lower && end < p.cols ? end : p.cols;
}

/// A vector of rows after another from a column on.
HWY_INLINE void multiply_rows(const PlaneProduct& p, Index row, Index end, Index col) {
  while (row < end) {
    const PlaneStripe& stripe = row + kPlaneLanes <= end ? kOne : kEnd;
    multiply_stripe(p, stripe, row, col, lower_end(p, row + stripe.rows));
    row += stripe.rows;
  }
}

void plane_multiply(const PlaneProduct& p) {
  constexpr Index kRows = 2 * kPlaneLanes;
  Index row = 0;
  for (; row + kRows <= p.rows; row += kRows) {
    const Index whole = p.lower && row < p.cols ? row : p.cols;
    multiply_stripe(p, kPair, row, 0, whole);
    if (whole < p.cols) multiply_rows(p, row, row + kRows, whole);
  }
  multiply_rows(p, row, p.rows, 0);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
using PlaneBlock = hn::FixedTag<double, kRowUnit>;
using BlockColumns = hn::Vec<PlaneBlock>[kRowUnit];

HWY_INLINE void load_block(const double* from, Index stride, BlockColumns& columns) {
  for (Index j = 0; j < kRowUnit; ++j) columns[j] = hn::LoadU(PlaneBlock(), from + j * stride);
}
HWY_INLINE void transpose_block(const BlockColumns& from, BlockColumns& to) {
  const PlaneBlock d;
  const auto even0 = hn::InterleaveLower(d, from[0], from[1]);  // rows 0 and 2
  const auto odd0 = hn::InterleaveUpper(d, from[0], from[1]);
  const auto even1 = hn::InterleaveLower(d, from[2], from[3]);
  const auto odd1 = hn::InterleaveUpper(d, from[2], from[3]);
  to[0] = hn::ConcatLowerLower(d, even1, even0);
  to[1] = hn::ConcatLowerLower(d, odd1, odd0);
  to[2] = hn::ConcatUpperUpper(d, even1, even0);
  to[3] = hn::ConcatUpperUpper(d, odd1, odd0);
}
/// The block at `to` from the one across the diagonal.
HWY_INLINE void mirror_block(const double* from, Index stride, Index plane, double* to) {
  const PlaneBlock d;
  BlockColumns columns;
  BlockColumns turned;
  load_block(from, stride, columns);
  transpose_block(columns, turned);
  for (Index j = 0; j < kRowUnit; ++j) hn::StoreU(turned[j], d, to + j * stride);
  load_block(from + plane, stride, columns);
  transpose_block(columns, turned);
  for (Index j = 0; j < kRowUnit; ++j) hn::StoreU(hn::Neg(turned[j]), d, to + plane + j * stride);
}
HWY_INLINE void mirror_diagonal_block(double* x, Index stride, Index plane) {
  const PlaneBlock d;
  BlockColumns columns;
  BlockColumns turned;
  load_block(x, stride, columns);
  transpose_block(columns, turned);
  for (Index j = 0; j < kRowUnit; ++j) {
    const auto above = hn::FirstN(d, static_cast<std::size_t>(j));
    hn::StoreU(hn::IfThenElse(above, turned[j], columns[j]), d, x + j * stride);
  }
  load_block(x + plane, stride, columns);
  transpose_block(columns, turned);
  for (Index j = 0; j < kRowUnit; ++j) {
    const auto above = hn::FirstN(d, static_cast<std::size_t>(j));
    hn::StoreU(hn::IfThenElse(above, hn::Neg(turned[j]), columns[j]), d, x + plane + j * stride);
    x[plane + j * stride + j] = 0.0;
  }
}
#endif

/// Columns [first, end) above the diagonal from row `top` on, and the diagonal.
void mirror_entries(double* x, Index stride, Index plane, Index top, Index first, Index end) {
  for (Index j = first; j < end; ++j) {
    for (Index i = top; i < j; ++i) {
      x[j * stride + i] = x[i * stride + j];
      x[j * stride + i + plane] = -x[i * stride + j + plane];
    }
    x[j * stride + j + plane] = 0.0;
  }
}

void plane_mirror(double* x, Index n, Index stride, Index plane) {
  Index first = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  for (; first + kRowUnit <= n; first += kRowUnit) {
    for (Index i = 0; i < first; i += kRowUnit)
      mirror_block(x + i * stride + first, stride, plane, x + first * stride + i);
    mirror_diagonal_block(x + first * stride + first, stride, plane);
  }
#endif
  mirror_entries(x, stride, plane, 0, first, n);
}

Index plane_whole() { return kPlaneLanes; }

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(plane_multiply);
HWY_EXPORT(plane_mirror);
HWY_EXPORT(plane_whole);

const PlaneKernels& plane_kernels() {
  static const PlaneKernels kernels = [] {
    use_simd_limit();
    return PlaneKernels{HWY_DYNAMIC_DISPATCH(plane_multiply), HWY_DYNAMIC_DISPATCH(plane_mirror),
                        HWY_DYNAMIC_DISPATCH(plane_whole)()};
  }();
  return kernels;
}

}  // namespace hqmm::detail
#endif
