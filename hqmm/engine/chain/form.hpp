// Form: what a pass asks of a way to write a model's states and operators as real numbers.
//
// A state x has a weight, the trace of the ρ it stands for. An operator moves a state; its adjoint
// moves ∂ℓ/∂x back. The forms are LinearForm, KrausForm and ChannelForm; forms.hpp writes them.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/engine/chain/chain_result.hpp"

namespace hqmm::detail {

/// Weights outside these call for the careful mode.
inline constexpr double kSmallestWeight = 0x1p-900;
inline constexpr double kLargestWeight = 0x1p+900;

/// The exponent of a positive normal number, and a power of two: without a call, as both are needed
/// every few steps.
inline int exponent_of(double weight) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(weight) >> 52) - 1023;
}
inline double two_to(int exponent) {
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Sizes of vectors that lie one after another.
struct VectorList {
  Index rows, stride, count;
};

/// ∂ℓ/∂R += Σ z xᵀ over so many adjoints z and states x.
inline void add_outer_products(PanelKernel kernel, const VectorList& vectors,
                               const double* adjoints, const double* states,
                               const OperatorGradient& gradient) {
  PanelProduct product{.rows = padded_rows(vectors.rows), .cols = vectors.rows, .left = adjoints};
  product.depth = vectors.count;
  product.left_stride = product.depth_step = product.out_stride = vectors.stride;
  product.right = states;
  product.col_step = 1;
  product.out = gradient.values;
  product.add = *gradient.used != 0;
  kernel(product);
  *gradient.used = 1;
}

/// For the products of one group, in forms that need it.
struct FormScratch {
  AlignedDoubles images, products, scaled, sums;
};

/// Gradients wait until all uses of an operator in a block of steps lie one after another.
template <typename T>
concept AccumulatingForm = requires(const T form, std::uint32_t op, const double* adjoints,
                                    const double* states, std::size_t count,
                                    GradientTable& gradients) {
  { form.accumulate(op, adjoints, states, count, gradients) } -> std::same_as<void>;
};

/// A group is of one operator. `count` states lie one after another; `to` says where the image of
/// each goes.
template <typename T>
concept GroupedForm = requires(const T form, std::uint32_t op, const double* states,
                               const double* adjoints, std::size_t count, double* const* to,
                               GradientTable& gradients, FormScratch& scratch) {
  // Images of states, and of adjoints the other way.
  { form.forward(op, states, count, to, scratch) } -> std::same_as<void>;
  { form.backward(op, adjoints, states, count, to, gradients, scratch) } -> std::same_as<void>;
};

/// A step back over states of several operators.
struct SharedStep {
  const std::uint32_t* ops = nullptr;
  double* adjoints = nullptr;  // the form may leave others here, for its accumulate()
  const double* states = nullptr;
  const double* const* images = nullptr;  // of the states,
  const double* scales = nullptr;         // and what each was scaled by afterwards
  std::size_t count = 0;
};

/// A group, and a run of accumulate(), is of all operators with one key.
template <typename T>
concept SharedForm = requires(const T form, const std::uint32_t* ops, const double* states,
                              std::size_t count, double* const* to, const SharedStep& back,
                              GradientTable& gradients, FormScratch& scratch) {
  // [operator], below the number of operators
  { form.keys() } -> std::same_as<std::span<const std::uint32_t>>;
  { form.forward(ops, states, count, to, scratch) } -> std::same_as<void>;
  { form.backward(back, to, gradients, scratch) } -> std::same_as<void>;
};

template <typename T>
concept Form = requires(const T form, T& written, std::uint32_t op, const double* states, double* z,
                        double c, FormScratch& scratch) {
  // The weight is a polynomial of this degree in x.
  requires std::same_as<decltype(T::kDegree), const int>;
  // Whether backward() leaves the gradients to accumulate(), or adds them as it goes.
  requires std::same_as<decltype(T::kDeferred), const bool>;
  requires !T::kDeferred || AccumulatingForm<T>;
  // Whether operators share groups.
  requires std::same_as<decltype(T::kShared), const bool>;
  requires(T::kShared && SharedForm<T>) || (!T::kShared && GroupedForm<T>);

  // Doubles of a state, and the initial one; a caller may put another in its place.
  { form.state_size() } -> std::same_as<Index>;
  { written.initial() } -> std::same_as<double*>;
  { form.copy_initial(z) } -> std::same_as<void>;
  // Entries of the table of gradients, and doubles of an entry.
  { form.gradient_count() } -> std::same_as<std::size_t>;
  { form.gradient_size() } -> std::same_as<std::size_t>;

  { form.weight(states) } -> std::same_as<double>;
  // z += c ∂log w/∂x(x)
  { form.add_slope(states, c, z) } -> std::same_as<void>;
  // Σ_y tr 𝒦_y(ρ) before a step, over the symbols of its set; for a model that is not feasible. Of
  // a word, the product of its symbols' totals over their weights, times the weight of x; NaN when
  // one of them is out of range.
  { form.total(op, states, scratch) } -> std::same_as<double>;
};

}  // namespace hqmm::detail
