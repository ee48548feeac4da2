// The kernel of products.hpp and gram_iteration.hpp, compiled once per instruction set: it is
// included by files that Highway includes again for each (core/simd.hpp).
//
// A row of B is multiplied by the real and by the imaginary part of an element of A into two sums;
// i times the second is added at the end. So every multiplication counts, whatever n is, and rows
// need no room between them. Columns that are not whole vectors are done with shorter vectors.

#if defined(HQMM_STIEFEL_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HQMM_STIEFEL_PRODUCTS_INL
#undef HQMM_STIEFEL_PRODUCTS_INL
#else
#define HQMM_STIEFEL_PRODUCTS_INL
#endif

#include <hwy/highway.h>

#include "hqmm/stiefel/products.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
// No vectors: one complex number takes their place.
constexpr int kWidest = 2;
template <int kLanes>
struct Tag {};
struct Pair {
  double re, im;
};
template <class D>
using VectorOf = Pair;

template <class D>
HWY_INLINE Pair all(D, double x) {
  return {x, x};
}
template <class D>
HWY_INLINE Pair load(D, const double* from) {
  return {from[0], from[1]};
}
template <class D>
HWY_INLINE void store(Pair v, D, double* to) {
  to[0] = v.re;
  to[1] = v.im;
}
HWY_INLINE Pair add(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
HWY_INLINE Pair mul(Pair a, Pair b) { return {a.re * b.re, a.im * b.im}; }
HWY_INLINE Pair mul_add(Pair a, Pair b, Pair c) { return {a.re * b.re + c.re, a.im * b.im + c.im}; }
template <bool kMinus, class D>
HWY_INLINE Pair times_i(D, Pair v) {
  return kMinus ? Pair{v.im, -v.re} : Pair{-v.im, v.re};
}
template <class D>
HWY_INLINE double sum(D, Pair v) {
  return v.re + v.im;
}
#else
constexpr int kWidest = HWY_LANES(double) < 8 ? HWY_LANES(double) : 8;
template <int kLanes>
using Tag = hn::CappedTag<double, kLanes>;
template <class D>
using VectorOf = hn::Vec<D>;

template <class D>
HWY_INLINE VectorOf<D> all(D d, double x) {
  return hn::Set(d, x);
}
template <class D>
HWY_INLINE VectorOf<D> load(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE void store(VectorOf<D> v, D d, double* to) {
  hn::StoreU(v, d, to);
}
template <class V>
HWY_INLINE V add(V a, V b) {
  return hn::Add(a, b);
}
template <class V>
HWY_INLINE V mul(V a, V b) {
  return hn::Mul(a, b);
}
template <class V>
HWY_INLINE V mul_add(V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}
/// iv, or −iv.
template <bool kMinus, class D>
HWY_INLINE VectorOf<D> times_i(D d, VectorOf<D> v) {
  const auto plus = hn::Set(d, 0.0);
  const auto minus = hn::Set(d, -0.0);
  return hn::Xor(hn::Reverse2(d, v), kMinus ? hn::OddEven(minus, plus) : hn::OddEven(plus, minus));
}
template <class D>
HWY_INLINE double sum(D d, VectorOf<D> v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}
#endif

using Wide = Tag<kWidest>;

/// C = s·op(A)B + x·X + y·Y: element (i,k) of op(A) is at i·row_step + k·depth_step.
struct Product {
  const double* a;
  Index row_step, depth_step;
  Operand b;
  double* c;
  Index c_stride;
  Index rows, depth;
  Index cols;  // in numbers, two per element
  bool upper;  // C is Hermitian: nothing is written below the blocks on its diagonal
  double s;
  Term x, y;
};

/// Registers for sums, two per vector of C.
constexpr int kSums = HWY_TARGET == HWY_AVX3 ? 24 : 12;
constexpr int most_rows(int vectors) {
  const int fit = kSums / (2 * vectors);
  return fit < 8 ? fit : 8;
}

/// kRows rows × kVectors vectors of C. Loops of constant length that do one thing per vector are
/// what compilers keep in registers.
template <int kRows, int kVectors, class D>
struct Tile {
  using V = VectorOf<D>;
  static constexpr Index kLanes = static_cast<Index>(sizeof(V) / sizeof(double));
  V out[kRows][kVectors];

  HWY_INLINE void scale(D d, double by) {
    const V factor = all(d, by);
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) out[r][v] = mul(out[r][v], factor);
  }
  HWY_INLINE void add_term(D d, const Term& x, Index i, Index j) {
    const V factor = all(d, x.factor);
    const double* from = x.at + i * x.stride + j;
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v)
        out[r][v] = mul_add(load(d, from + r * x.stride + v * kLanes), factor, out[r][v]);
  }
  HWY_INLINE void write(D d, double* to, Index stride) const {
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kVectors; ++v) store(out[r][v], d, to + r * stride + v * kLanes);
  }
};

template <bool kAdjoint, int kRows, int kVectors, class D>
HWY_INLINE Tile<kRows, kVectors, D> sum_up(D d, const Product& o, Index i, Index j) {
  using V = VectorOf<D>;
  constexpr Index kLanes = Tile<kRows, kVectors, D>::kLanes;
  V re[kRows][kVectors];
  V im[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) re[r][v] = im[r][v] = all(d, 0.0);
  const double* a = o.a + i * o.row_step;
  const double* b = o.b.at + j;
  for (Index k = 0; k < o.depth; ++k, a += o.depth_step, b += o.b.stride) {
    V row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = load(d, b + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const V by_re = all(d, a[r * o.row_step]);
      const V by_im = all(d, a[r * o.row_step + 1]);
      for (int v = 0; v < kVectors; ++v) re[r][v] = mul_add(by_re, row[v], re[r][v]);
      for (int v = 0; v < kVectors; ++v) im[r][v] = mul_add(by_im, row[v], im[r][v]);
    }
  }
  Tile<kRows, kVectors, D> tile;
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v)
      tile.out[r][v] = add(re[r][v], times_i<kAdjoint>(d, im[r][v]));
  return tile;
}

template <bool kAdjoint, int kRows, int kVectors, class D>
HWY_INLINE void run_tile(D d, const Product& o, Index i, Index j) {
  if constexpr (kRows <= most_rows(kVectors)) {
    auto tile = sum_up<kAdjoint, kRows, kVectors>(d, o, i, j);
    if (o.s != 1.0) tile.scale(d, o.s);
    if (o.x.at != nullptr) tile.add_term(d, o.x, i, j);
    if (o.y.at != nullptr) tile.add_term(d, o.y, i, j);
    tile.write(d, o.c + i * o.c_stride + j, o.c_stride);
  }
}

template <bool kAdjoint, int kVectors, class D>
HWY_INLINE void run_rows(D d, const Product& o, Index i, Index j, Index rows) {
  switch (rows) {
    case 1:
      return run_tile<kAdjoint, 1, kVectors>(d, o, i, j);
    case 2:
      return run_tile<kAdjoint, 2, kVectors>(d, o, i, j);
    case 3:
      return run_tile<kAdjoint, 3, kVectors>(d, o, i, j);
    case 4:
      return run_tile<kAdjoint, 4, kVectors>(d, o, i, j);
    case 5:
      return run_tile<kAdjoint, 5, kVectors>(d, o, i, j);
    case 6:
      return run_tile<kAdjoint, 6, kVectors>(d, o, i, j);
    case 7:
      return run_tile<kAdjoint, 7, kVectors>(d, o, i, j);
    default:
      return run_tile<kAdjoint, 8, kVectors>(d, o, i, j);
  }
}

/// The kVectors vectors of columns from number j on, in blocks of rows; the last two share what is
/// left.
template <bool kAdjoint, int kVectors, class D>
HWY_NOINLINE void run_columns(D d, const Product& o, Index j) {
  constexpr Index kMost = most_rows(kVectors);
  constexpr Index kWidth = kVectors * Tile<1, kVectors, D>::kLanes;
  const Index rows = o.upper && (j + kWidth) / 2 < o.rows ? (j + kWidth) / 2 : o.rows;
  Index i = 0;
  for (; i + 2 * kMost <= rows; i += kMost)
    run_tile<kAdjoint, static_cast<int>(kMost), kVectors>(d, o, i, j);
  const Index height = rows - i <= kMost ? rows - i : (rows - i + 1) / 2;
  for (; i < rows; i += height)
    run_rows<kAdjoint, kVectors>(d, o, i, j, height < rows - i ? height : rows - i);
}

template <bool kAdjoint>
HWY_INLINE void run(const Product& o) {
  Index j = 0;
  // Narrow blocks leave out more of a Hermitian C.
  if (kWidest < 8 || !o.upper)
    for (; j + 2 * kWidest <= o.cols; j += 2 * kWidest) run_columns<kAdjoint, 2>(Wide(), o, j);
  for (; j + kWidest <= o.cols; j += kWidest) run_columns<kAdjoint, 1>(Wide(), o, j);
  if constexpr (kWidest > 4) {
    if (j + 4 <= o.cols) {
      run_columns<kAdjoint, 1>(Tag<4>(), o, j);
      j += 4;
    }
  }
  if constexpr (kWidest > 2) {
    if (j + 2 <= o.cols) run_columns<kAdjoint, 1>(Tag<2>(), o, j);
  }
}

/// What `upper` has left out, and a real diagonal.
HWY_INLINE void mirror(const Square& c) {
  const Index stride = c.stride();
  double* at = c.data();
  for (Index i = 0; i < c.size(); ++i) {
    double* row = at + i * stride;
    for (Index j = 0; j < i; ++j) {
      row[2 * j] = at[j * stride + 2 * i];
      row[2 * j + 1] = -at[j * stride + 2 * i + 1];
    }
    row[2 * i + 1] = 0.0;
  }
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
