#include "hqmm/engine/chain/two_way_kernels.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "hqmm/core/panels.hpp"
#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/engine/chain/two_way_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// kRowUnit is half a vector of the widest target and whole vectors of the others.
constexpr bool kHalves = HWY_TARGET == HWY_AVX3;
using D = hn::ScalableTag<double>;
using H = std::conditional_t<kHalves, hn::Half<D>, D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
/// Vectors of rows at a time: the widest state in half of the many registers, four elsewhere.
constexpr int kMostVectors = kHalves ? 8 : 4;
constexpr int kUnitCount = kTwoWayMostRows / kRowUnit;

#if HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Vec<H> lower_half(hn::Vec<D> x) { return hn::LowerHalf(H(), x); }
#else
[[maybe_unused]] HWY_INLINE hn::Vec<H> lower_half(hn::Vec<D> x) { return x; }
#endif

/// Σ over some columns of a matrix, for kVectors vectors of rows and half a vector after them.
template <int kVectors, bool kHalf>
struct Part {
  static constexpr int kFull = kVectors + (kVectors == 0 ? 1 : 0);  // no arrays of size zero
  hn::Vec<D> full[kFull];
  hn::Vec<H> half;

  HWY_INLINE void start(const double* column, hn::Vec<D> x) {
    for (int v = 0; v < kVectors; ++v) full[v] = hn::Mul(hn::LoadU(D(), column + v * kLanes), x);
    if constexpr (kHalf) half = hn::Mul(hn::LoadU(H(), column + kVectors * kLanes), lower_half(x));
  }
  HWY_INLINE void add(const double* column, hn::Vec<D> x) {
    for (int v = 0; v < kVectors; ++v)
      full[v] = hn::MulAdd(hn::LoadU(D(), column + v * kLanes), x, full[v]);
    if constexpr (kHalf)
      half = hn::MulAdd(hn::LoadU(H(), column + kVectors * kLanes), lower_half(x), half);
  }
  HWY_INLINE void add(const Part& other) {
    for (int v = 0; v < kVectors; ++v) full[v] = hn::Add(full[v], other.full[v]);
    if (kHalf) half = hn::Add(half, other.half);
  }
  HWY_INLINE void put(double* out) const {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(full[v], D(), out + v * kLanes);
    if (kHalf) hn::StoreU(half, H(), out + kVectors * kLanes);
  }
};

/// Rows of a state and the distance between columns of an operator: known to the compiler where the
/// rows come out even, so that a step is a run of products without a loop.
struct AnySize {
  Index rows, stride;
};
template <int kUnits>
struct EvenSize {
  static constexpr Index rows = kUnits * kRowUnit;
  static constexpr Index stride = column_stride(rows);
};

/// An entry of a vector in all places, from memory or from registers. Loads are what a step runs out
/// of: of one matrix for one vector, nothing is used twice.
struct FromMemory {
  const double* x;

  explicit FromMemory(const double* from) : x(from) {}
  HWY_INLINE hn::Vec<D> operator()(Index k) const { return hn::Set(D(), x[k]); }
};
#if HWY_TARGET == HWY_AVX3
struct FromRegisters {
  hn::Vec<D> low, high;

  explicit FromRegisters(const double* x) : low(hn::LoadU(D(), x)), high(hn::LoadU(D(), x + 8)) {}
  HWY_INLINE hn::Vec<D> operator()(Index k) const {
    const hn::RebindToUnsigned<D> d;
    const auto place = hn::IndicesFromVec(D(), hn::Set(d, static_cast<std::uint64_t>(k % 8)));
    return hn::TableLookupLanes(k < 8 ? low : high, place);
  }
};
template <class Size>
constexpr bool kFitsRegisters = std::is_same_v<Size, EvenSize<4>>;
template <class Size>
using Entries = std::conditional_t<kFitsRegisters<Size>, FromRegisters, FromMemory>;
#else
template <class Size>
using Entries = FromMemory;
#endif

/// Some rows of y = M x. Two or four sums, so that additions need not wait for each other.
template <int kVectors, bool kHalf, class Size>
HWY_INLINE void rows_of(const double* m, Size size, const double* from, double* y) {
  constexpr bool kFour = kVectors + (kHalf ? 1 : 0) <= 2;
  const Index stride = size.stride;
  const Entries<Size> x(from);
  Part<kVectors, kHalf> first, second, third, fourth;
  first.start(m, x(0));
  second.start(m + stride, x(1));
  Index k = 2;
  if constexpr (kFour) {
    third.start(m + 2 * stride, x(2));
    fourth.start(m + 3 * stride, x(3));
    for (k = 4; k + 4 <= size.rows; k += 4) {
      const double* column = m + k * stride;
      first.add(column, x(k));
      second.add(column + stride, x(k + 1));
      third.add(column + 2 * stride, x(k + 2));
      fourth.add(column + 3 * stride, x(k + 3));
    }
    first.add(third);
    second.add(fourth);
  }
  for (; k + 2 <= size.rows; k += 2) {
    first.add(m + k * stride, x(k));
    second.add(m + (k + 1) * stride, x(k + 1));
  }
  if (k < size.rows) first.add(m + k * stride, x(k));
  first.add(second);
  first.put(y);
}

/// y = M x, M of kUnits times kRowUnit rows, padding included.
template <int kUnits, class Size>
HWY_INLINE void apply(const double* m, Size size, const double* x, double* y) {
  if constexpr (kHalves) {
    rows_of<kUnits / 2, kUnits % 2 == 1>(m, size, x, y);
  } else {
    constexpr int kVectors = kUnits * static_cast<int>(kRowUnit) / kLanes;
    constexpr int kDone = kVectors / kMostVectors * kMostVectors;
    for (int v = 0; v < kDone; v += kMostVectors)
      rows_of<kMostVectors, false>(m + v * kLanes, size, x, y + v * kLanes);
    if constexpr (kDone < kVectors)
      rows_of<kVectors - kDone, false>(m + kDone * kLanes, size, x, y + kDone * kLanes);
  }
}

/// The steps of one sequence.
template <int kUnits, class Size>
class Walker {
 public:
  Walker(const TwoWaySteps& s, Size size) : s_(s), size_(size) {}

  HWY_INLINE void up(std::size_t t) const {
    const double* x = s_.states + s_.places[t + 1] * stride();
    double* next = s_.states + s_.places[t + 2] * stride();
    apply<kUnits>(s_.forward + s_.ops[t] * matrix(), size_, x, next);
  }
  HWY_INLINE void down(std::size_t t) const {
    const double* z = s_.adjoints + s_.places[t + 1] * stride();
    double* previous = s_.adjoints + s_.places[t] * stride();
    apply<kUnits>(s_.backward + s_.ops[t] * matrix(), size_, z, previous);
  }

 private:
  [[nodiscard]] std::size_t stride() const { return static_cast<std::size_t>(size_.stride); }
  [[nodiscard]] std::size_t matrix() const {
    return static_cast<std::size_t>(size_.rows * size_.stride);
  }

  const TwoWaySteps s_;
  const Size size_;
};

/// body(walker)
template <int kUnits, class Body>
HWY_INLINE void with_walker(const TwoWaySteps& s, Body body) {
  using Even = EvenSize<kUnits>;
  if (s.rows == Even::rows) {
    body(Walker<kUnits, Even>(s, {}));
  } else {
    body(Walker<kUnits, AnySize>(s, {s.rows, s.stride}));
  }
}

template <int kUnits>
void forward(const TwoWaySteps& s, std::size_t from, std::size_t to) {
  with_walker<kUnits>(s, [=](const auto& walker) HWY_ATTR {
    for (std::size_t t = from; t < to; ++t) walker.up(t);
  });
}

template <int kUnits>
void backward(const TwoWaySteps& s, std::size_t from, std::size_t to) {
  with_walker<kUnits>(s, [=](const auto& walker) HWY_ATTR {
    for (std::size_t t = to; t-- > from;) walker.down(t);
  });
}

template <int kUnits>
void both(const TwoWaySteps& s, std::size_t from, std::size_t to, std::size_t count) {
  with_walker<kUnits>(s, [=](const auto& walker) HWY_ATTR {
    for (std::size_t i = 0; i < count; ++i) {
      walker.up(from + i);
      walker.down(to - 1 - i);
    }
  });
}

template <int kUnits>
void scale(const TwoWaySteps& s, std::size_t from, std::size_t to, double factor) {
  const hn::CappedTag<double, kRowUnit> d;
  constexpr int kStep = static_cast<int>(hn::MaxLanes(d));
  const auto by = hn::Set(d, factor);
  for (std::size_t t = from; t < to; ++t) {
    double* z = s.adjoints + s.places[t + 1] * static_cast<std::size_t>(s.stride);
    for (int i = 0; i < kUnits * static_cast<int>(kRowUnit); i += kStep)
      hn::StoreU(hn::Mul(hn::LoadU(d, z + i), by), d, z + i);
  }
}

template <std::size_t... kUnits>
constexpr auto all_kernels(std::index_sequence<kUnits...>) {
  return std::array<TwoWayKernels, sizeof...(kUnits)>{
      TwoWayKernels{forward<static_cast<int>(kUnits) + 1>, backward<static_cast<int>(kUnits) + 1>,
                    both<static_cast<int>(kUnits) + 1>, scale<static_cast<int>(kUnits) + 1>}...};
}
constexpr auto kKernels = all_kernels(std::make_index_sequence<kUnitCount>());

TwoWayKernels kernels_for(Index rows) {
  return kKernels[static_cast<std::size_t>(padded_rows(rows) / kRowUnit - 1)];
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(kernels_for);

TwoWayKernels two_way_kernels(Index rows) {
  use_simd_limit();
  return HWY_DYNAMIC_DISPATCH(kernels_for)(rows);
}

}  // namespace hqmm::detail
#endif
