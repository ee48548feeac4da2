#include "hqmm/core/panels.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/core/panels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hqmm/core/registers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMostCols = 8;
constexpr int kMostVectors = 4;

/// kRowUnit is half a vector of the widest target and whole vectors of the others.
constexpr bool kHalves = HWY_TARGET == HWY_AVX3;

/// Columns of a tile of so many vectors of rows: accumulators, a column of L and one broadcast fit
/// the registers.
constexpr int tile_cols(int vectors) {
  const int fit = (kRegisters - vectors - 1) / vectors;
  return fit < kMostCols ? fit : kMostCols;
}

/// Independent sums per element of a small tile, so that additions need not wait for each other.
constexpr int sums_of(int accumulators) {
  if (accumulators <= 2) return 4;
  return accumulators <= 7 ? 2 : 1;
}

using D = hn::ScalableTag<double>;
using H = std::conditional_t<kHalves, hn::Half<D>, D>;
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(D()));

/// The sums of a tile: kVectors vectors of rows, and half a vector after them if kHalf, times
/// kCols columns.
template <int kVectors, bool kHalf, int kCols>
struct Sums {
  static constexpr int kFull = kVectors + (kVectors == 0 ? 1 : 0);  // no arrays of size zero
  hn::Vec<D> full[kCols][kFull];
  hn::Vec<H> half[kCols];

  // Columns by recursion, not by loops: GCC turns a loop over zeros into memset and keeps the sums
  // in memory for it.
  template <int kCol = 0>
  HWY_INLINE void clear() {
    if constexpr (kCol < kCols) {
      for (int v = 0; v < kFull; ++v) full[kCol][v] = hn::Zero(D());
      half[kCol] = hn::Zero(H());
      clear<kCol + 1>();
    }
  }
  /// += one column of L times one row of B.
  HWY_INLINE void add_term(const double* left, const double* right, Index col_step) {
    hn::Vec<D> column[kFull];
    for (int v = 0; v < kVectors; ++v) {
      column[v] = hn::LoadU(D(), left + v * kLanes);
      if (kCols > 1) keep_in_register(column[v]);
    }
    hn::Vec<H> end = hn::Zero(H());
    if (kHalf) {
      end = hn::LoadU(H(), left + kVectors * kLanes);
      if (kCols > 1) keep_in_register(end);
    }
    for (int c = 0; c < kCols; ++c) {
      const double factor = right[c * col_step];
      for (int v = 0; v < kVectors; ++v)
        full[c][v] = hn::MulAdd(column[v], hn::Set(D(), factor), full[c][v]);
      if (kHalf) half[c] = hn::MulAdd(end, hn::Set(H(), factor), half[c]);
    }
  }
  template <int kCol = 0>
  HWY_INLINE void add(const Sums& other) {
    if constexpr (kCol < kCols) {
      for (int v = 0; v < kVectors; ++v)
        full[kCol][v] = hn::Add(full[kCol][v], other.full[kCol][v]);
      if (kHalf) half[kCol] = hn::Add(half[kCol], other.half[kCol]);
      add<kCol + 1>(other);
    }
  }
  /// Into columns col, col + 1, … of C.
  template <int kCol = 0>
  HWY_INLINE void put(const PanelProduct& p, Index row, Index col) const {
    if constexpr (kCol < kCols) {
      double* column =
          p.scatter != nullptr ? p.scatter[col + kCol] : p.out + (col + kCol) * p.out_stride;
      if (p.add) {
        put_column<kCol, true>(column + row);
      } else {
        put_column<kCol, false>(column + row);
      }
      put<kCol + 1>(p, row, col);
    }
  }
  template <int kCol, bool kAdd>
  HWY_INLINE void put_column(double* to) const {
    for (int v = 0; v < kVectors; ++v, to += kLanes) {
      hn::Vec<D> value = full[kCol][v];
      if (kAdd) value = hn::Add(hn::LoadU(D(), to), value);
      hn::StoreU(value, D(), to);
    }
    if constexpr (kHalf) {
      hn::Vec<H> value = half[kCol];
      if (kAdd) value = hn::Add(hn::LoadU(H(), to), value);
      hn::StoreU(value, H(), to);
    }
  }
};

/// One tile of C, kept in registers over the whole depth.
template <int kVectors, bool kHalf, int kCols>
HWY_INLINE void tile_body(const PanelProduct& p, Index row, Index col) {
  constexpr int kSums = sums_of((kVectors + (kHalf ? 1 : 0)) * kCols);
  Sums<kVectors, kHalf, kCols> first, second, third, fourth;  // unused ones cost nothing
  first.clear();
  second.clear();
  third.clear();
  fourth.clear();
  const double* left = p.left + row;
  const double* right = p.right + col * p.col_step;
  const Index down = p.left_stride;
  const Index along = p.depth_step;
  const Index col_step = p.col_step;
  Index k = 0;
  for (; k + kSums <= p.depth; k += kSums) {
    first.add_term(left, right, col_step);
    if constexpr (kSums > 1) second.add_term(left + down, right + along, col_step);
    if constexpr (kSums > 2) {
      third.add_term(left + 2 * down, right + 2 * along, col_step);
      fourth.add_term(left + 3 * down, right + 3 * along, col_step);
    }
    left += kSums * down;
    right += kSums * along;
  }
  if constexpr (kSums > 1) {
    for (; k < p.depth; ++k, left += down, right += along) first.add_term(left, right, col_step);
    if constexpr (kSums > 2) {
      first.add(third);
      second.add(fourth);
    }
    first.add(second);
  }
  first.put(p, row, col);
}

template <int kVectors, bool kHalf, int kCols>
void tile(const PanelProduct& p, Index row, Index col) {
  tile_body<kVectors, kHalf, kCols>(p, row, col);
}

using Tile = void (*)(const PanelProduct&, Index row, Index col);

/// tiles[c − 1] has c columns, as many as fit the registers.
template <int kVectors, bool kHalf, std::size_t... kCols>
constexpr auto tiles_of(std::index_sequence<kCols...>) {
  return std::array<Tile, kMostCols>{tile<kVectors, kHalf, static_cast<int>(kCols) + 1>...};
}
template <int kVectors, bool kHalf>
constexpr int kWidth = tile_cols(kVectors + (kHalf ? 1 : 0));
template <int kVectors, bool kHalf>
constexpr auto kTiles =
    tiles_of<kVectors, kHalf>(std::make_index_sequence<kWidth<kVectors, kHalf>>());

struct Stripe {
  Index width;
  const Tile* tiles;
};
template <int kVectors, bool kHalf>
constexpr Stripe kStripe{kWidth<kVectors, kHalf>, kTiles<kVectors, kHalf>.data()};

constexpr Stripe kWhole[] = {
    {}, kStripe<1, false>, kStripe<2, false>, kStripe<3, false>, kStripe<4, false>};
#if HWY_TARGET == HWY_AVX3
constexpr Stripe kWithHalf[] = {kStripe<0, true>, kStripe<1, true>, kStripe<2, true>,
                                kStripe<3, true>, kStripe<4, true>};
#else
constexpr const Stripe* kWithHalf = kWhole;            // never asked for
#endif

/// How many vectors of rows the next stripe takes.
HWY_INLINE Index stripe_vectors(Index vectors, bool half, Index cols) {
  if (vectors <= 3) return vectors;
  if (vectors == 4) return cols <= (half ? kWithHalf : kWhole)[4].width ? 4 : 2;
  return cols <= kWhole[4].width && vectors != 5 && vectors != 6 ? 4 : 3;
}

void multiply(const PanelProduct& p) {
  const bool half = kHalves && p.rows % kLanes != 0;
  Index vectors = p.rows / kLanes;
  Index row = 0;
  do {
    const Index take = stripe_vectors(vectors, half, p.cols);
    vectors -= take;
    const Stripe& stripe = (half && vectors == 0 ? kWithHalf : kWhole)[take];
    const Index below = row + (take + (half ? 1 : 0)) * kLanes;
    const Index cols = p.lower && below < p.cols ? below : p.cols;
    for (Index col = 0; col < cols;) {
      const Index left_over = cols - col;
      Index width = left_over < stripe.width ? left_over : stripe.width;
      // Two tiles of the same width beat a wide one and a sliver.
      if (left_over > width && left_over < 2 * width) width = (left_over + 1) / 2;
      stripe.tiles[width - 1](p, row, col);
      col += width;
    }
    row += take * kLanes;
  } while (vectors > 0);
}

/// A whole product that is one tile.
template <int kVectors, bool kHalf, int kCols>
void single(const PanelProduct& p) {
  tile_body<kVectors, kHalf, kCols>(p, 0, 0);
}

template <int kVectors, bool kHalf, std::size_t... kCols>
constexpr auto singles_of(std::index_sequence<kCols...>) {
  return std::array<PanelKernel, kMostCols>{
      single<kVectors, kHalf, static_cast<int>(kCols) + 1>...};
}
template <int kVectors, bool kHalf>
constexpr auto kSingles =
    singles_of<kVectors, kHalf>(std::make_index_sequence<kWidth<kVectors, kHalf>>());

struct Single {
  Index width;
  const PanelKernel* kernels;
};
template <int kVectors, bool kHalf>
constexpr Single kSingle{kWidth<kVectors, kHalf>, kSingles<kVectors, kHalf>.data()};

constexpr Single kWholeSingles[] = {
    {}, kSingle<1, false>, kSingle<2, false>, kSingle<3, false>, kSingle<4, false>};
#if HWY_TARGET == HWY_AVX3
constexpr Single kHalfSingles[] = {kSingle<0, true>, kSingle<1, true>, kSingle<2, true>,
                                   kSingle<3, true>, kSingle<4, true>};
#else
constexpr const Single* kHalfSingles = kWholeSingles;  // never asked for
#endif

PanelKernel multiply_for(Index rows, Index cols) {
  const bool half = kHalves && rows % kLanes != 0;
  const Index vectors = rows / kLanes;
  if (vectors > kMostVectors || cols == 0) return multiply;
  const Single& single = (half ? kHalfSingles : kWholeSingles)[vectors];
  return cols <= single.width ? single.kernels[cols - 1] : multiply;
}

/// Four sums that need not wait for each other, the same for every shape.
double dot(const double* a, const double* b, Index rows, Index cols, Index stride) {
  using Unit = hn::CappedTag<double, kRowUnit>;
  constexpr Index kUnitLanes = static_cast<Index>(hn::MaxLanes(Unit()));
  const Unit d;
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  auto even_next = hn::Zero(d);
  auto odd_next = hn::Zero(d);
  for (Index j = 0; j < cols; ++j, a += stride, b += stride) {
    Index i = 0;
    for (; i + 4 * kUnitLanes <= rows; i += 4 * kUnitLanes) {
      const auto term = [&](Index k, auto sum) {
        return hn::MulAdd(hn::LoadU(d, a + i + k * kUnitLanes),
                          hn::LoadU(d, b + i + k * kUnitLanes), sum);
      };
      even = term(0, even);
      odd = term(1, odd);
      even_next = term(2, even_next);
      odd_next = term(3, odd_next);
    }
    for (; i < rows; i += kUnitLanes)
      even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
  }
  const auto sum = hn::Add(hn::Add(even, odd), hn::Add(even_next, odd_next));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(multiply);
HWY_EXPORT(multiply_for);
HWY_EXPORT(dot);
HWY_EXPORT(target);

PanelKernel panel_kernel() {
  static PanelKernel const kernel = []() -> PanelKernel {
    use_simd_limit();
    return HWY_DYNAMIC_DISPATCH(multiply);
  }();
  return kernel;
}

PanelKernel panel_kernel_for(Index rows, Index cols) {
  static_cast<void>(panel_kernel());  // the target is chosen
  return HWY_DYNAMIC_DISPATCH(multiply_for)(rows, cols);
}

ColumnDot column_dot() {
  static_cast<void>(panel_kernel());
  return HWY_DYNAMIC_DISPATCH(dot);
}

const char* panel_target() {
  static_cast<void>(panel_kernel());
  return HWY_DYNAMIC_DISPATCH(target)();
}

}  // namespace hqmm::detail
#endif
