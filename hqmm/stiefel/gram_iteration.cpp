#include "hqmm/stiefel/gram_iteration.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <utility>

#include "hqmm/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hqmm/stiefel/gram_iteration.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hqmm/stiefel/products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

/// a, b, c of the literal polynomial.
constexpr double kLiteral[] = {3.4445, -4.7750, 2.0315};
/// −½ over k, for k = 0 … 8.
constexpr double kSeries[] = {1.0,         -1.0 / 2,     3.0 / 8,       -5.0 / 16,     35.0 / 128,
                              -63.0 / 256, 231.0 / 1024, -429.0 / 2048, 6435.0 / 32768};

/// A step of degree d leaves a residual of about 2|(−½ over d+1)|·e^{d+1}: at most 1e-13 from here.
/// Where no step can be the last, degree 2 gains most for its products and has the widest basin.
struct LastStep {
  double from;
  int degree;
};
constexpr LastStep kLastSteps[] = {{5e-5, 2}, {2.8e-3, 4}, {1.5e-2, 6}, {3.8e-2, 8}};

/// From here on half of a product and its mirror image cost less than the whole.
constexpr Index kHalvesFrom = 12;

/// The columns from number kFrom on of a product of matrices so small that one tile has all rows.
template <int kSize, int kFrom>
HWY_INLINE void small_columns(const Product& o) {
  constexpr int kLeft = 2 * kSize - kFrom;
  if constexpr (kLeft >= kWidest) {
    run_tile<false, kSize, 1>(Wide(), o, 0, kFrom);
    small_columns<kSize, kFrom + kWidest>(o);
  } else if constexpr (kLeft > 0) {
    // Into the padding: there are no vectors of 2, and none of 8 for one column.
    run_tile<false, kSize, 1>(Tag<(kLeft > 4 ? 8 : 4)>(), o, 0, kFrom);
  }
}

template <int kSize>
HWY_NOINLINE void small_product(const Square& a, const Square& b, const Square& c, double s,
                                const Term& x, const Term& y) {
  static_assert(kSize <= most_rows(1));
  constexpr Index kStride = (2 * kSize + 7) / 8 * 8;
  Operand known(b);
  known.stride = kStride;
  small_columns<kSize, 0>(
      {a.data(), kStride, 2, known, c.data(), kStride, kSize, kSize, 2 * kSize, false, s, x, y});
}

/// C = s·AB + x·X + y·Y, known to be Hermitian.
HWY_INLINE void product(const Square& a, const Square& b, const Square& c, double s,
                        const Term& x = {}, const Term& y = {}) {
  const Index n = a.size();
  switch (n) {
    case 1:
      return small_product<1>(a, b, c, s, x, y);
    case 2:
      return small_product<2>(a, b, c, s, x, y);
    case 3:
      return small_product<3>(a, b, c, s, x, y);
    case 4:
      return small_product<4>(a, b, c, s, x, y);
    case 5:
      return small_product<5>(a, b, c, s, x, y);
    case 6:
      return small_product<6>(a, b, c, s, x, y);
    default:
      break;
  }
  const bool halves = n >= kHalvesFrom;
  // Into the padding: there are no vectors of 2.
  const Index cols = (2 * n + 3) / 4 * 4;
  run<false>({a.data(), a.stride(), 2, b, c.data(), c.stride(), n, n, cols, halves, s, x, y});
  if (halves) mirror(c);
}

/// xX + yY + zZ
void combine(const Term& x, const Term& y, const Term& z, const Square& out) {
  const Wide d;
  for (Index i = 0; i < out.size() * out.stride(); i += kWidest) {
    const auto first = mul(all(d, x.factor), load(d, x.at + i));
    const auto second = mul_add(all(d, y.factor), load(d, y.at + i), first);
    store(mul_add(all(d, z.factor), load(d, z.at + i), second), d, out.data() + i);
  }
}

/// E = cH − I; returns ‖E‖_F.
double centre(double c, const Square& h, const Square& identity, const Square& e) {
  const Wide d;
  auto squares = all(d, 0.0);
  for (Index i = 0; i < h.size() * h.stride(); i += kWidest) {
    const auto minus = mul(all(d, -1.0), load(d, identity.data() + i));
    const auto off = mul_add(all(d, c), load(d, h.data() + i), minus);
    squares = mul_add(off, off, squares);
    store(off, d, e.data() + i);
  }
  return std::sqrt(sum(d, squares));
}

double squared_norm(const Square& h) {
  const Wide d;
  auto squares = all(d, 0.0);
  for (Index i = 0; i < h.size() * h.stride(); i += kWidest) {
    const auto v = load(d, h.data() + i);
    squares = mul_add(v, v, squares);
  }
  return sum(d, squares);
}

void literal(GramIteration::Squares& squares, const Square& identity, double c, int steps) {
  auto& [h, q, p, spare, other, unused] = squares;
  for (int step = 0; step < steps; ++step) {
    product(h, h, p, kLiteral[2] * c * c, {kLiteral[1] * c, h}, {kLiteral[0], identity});
    const bool more = step + 1 < steps;
    // QP comes between the two products that wait for each other.
    if (more) product(h, p, spare, c);
    if (step > 0) product(q, p, other, 1.0);
    if (more) product(spare, p, h, 1.0);
    std::swap(q, step > 0 ? other : p);
    c = 1.0;
  }
}

/// T = the series of (I + E)^{-1/2} to this degree, by Horner's rule in E².
void series(const Square& e, const Square& identity, int degree, Square& t, const Square& square,
            Square& spare) {
  if (degree == 2) return product(e, e, t, kSeries[2], {kSeries[1], e}, {kSeries[0], identity});
  product(e, e, square, 1.0);
  combine({kSeries[degree - 2], identity}, {kSeries[degree - 1], e}, {kSeries[degree], square}, t);
  for (int k = degree - 4; k >= 0; k -= 2) {
    product(square, t, spare, 1.0, {kSeries[k + 1], e}, {kSeries[k], identity});
    std::swap(t, spare);
  }
}

GramIteration::Outcome convergent(GramIteration::Squares& squares, const Square& identity, double c,
                                  int budget) {
  auto& [h, q, t, e, square, spare] = squares;
  for (int step = 1;; ++step) {
    const double residual = centre(c, h, identity, e);
    const LastStep* enough = std::begin(kLastSteps);
    while (enough != std::end(kLastSteps) && !(residual <= enough->from)) ++enough;
    const bool last = enough != std::end(kLastSteps);
    const int degree = last ? enough->degree : 2;
    series(e, identity, degree, t, square, spare);
    const bool more = !last && step < budget;
    if (more) product(h, t, e, c);
    if (step > 1) product(q, t, spare, 1.0);
    if (more) product(e, t, h, 1.0);
    std::swap(q, step > 1 ? spare : t);
    if (!more) return {step, last};
    c = 1.0;
  }
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hqmm::detail {

HWY_EXPORT(literal);
HWY_EXPORT(convergent);
HWY_EXPORT(centre);
HWY_EXPORT(squared_norm);

void GramIteration::resize(Index n) {
  if (memory_.size() == n) return;
  memory_.resize(n, squares_.size() + 1);
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i] = memory_[i];
  identity_ = memory_[squares_.size()];
  for (Index i = 0; i < n; ++i) identity_.set(i, i, 1.0);
}

GramNorms GramIteration::norms() {
  use_simd_limit();
  GramNorms out;
  out.residual = HWY_DYNAMIC_DISPATCH(centre)(1.0, gram(), identity_, squares_[kScratch]);
  out.squares = HWY_DYNAMIC_DISPATCH(squared_norm)(gram());
  for (Index i = 0; i < gram().size(); ++i) out.trace += gram()(i, i).real();
  return out;
}

void GramIteration::run_literal(double c, int steps) {
  assert(steps >= 0);
  const Index count = identity_.size() * identity_.stride();
  if (steps == 0) std::copy(identity_.data(), identity_.data() + count, squares_[kFactor].data());
  use_simd_limit();
  HWY_DYNAMIC_DISPATCH(literal)(squares_, identity_, c, steps);
}

GramIteration::Outcome GramIteration::run_convergent(double c, int budget) {
  assert(budget >= 1);
  use_simd_limit();
  return HWY_DYNAMIC_DISPATCH(convergent)(squares_, identity_, c, budget);
}

}  // namespace hqmm::detail
#endif
