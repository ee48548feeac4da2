// WindowModel: any trace-preserving model as one real matrix per set and symbol.
//
//   P(y₁ … y_L) = eᵀ R_{y_L} … R_{y₁} x₀        e: ones on the leading `traced` coordinates
//
//   Hqmm       x: ρ in the coordinates of model/hermitian_basis.hpp, n² or n(n+1)/2 of a real model
//   Hmm        x: the distribution over states;  R_y = diag(C_y) A
//   EdgeHmm    the same;  R_y = T_y
//
// A missing symbol is one more symbol, whose matrix is the sum of the others; a set of symbols has
// the sum of its members'.
#pragma once

#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/model/any_model.hpp"

namespace hqmm::detail {

struct WindowModel {
  Index size = 0;    // coordinates of a state
  Index stride = 0;  // between columns; what pads them is zero
  Index traced = 0;
  std::size_t symbols = 0;
  /// Weights are sums of numbers that are not negative: nothing cancels.
  bool positive = false;
  PositionMap positions;
  AlignedDoubles initial;
  /// The matrices of all symbols, of the missing one, and of the sets that the alphabet has.
  std::vector<AlignedDoubles> sets;

  [[nodiscard]] std::size_t matrix_size() const { return static_cast<std::size_t>(size * stride); }
  [[nodiscard]] std::size_t matrices() const { return sets.front().size() / matrix_size(); }
  [[nodiscard]] std::size_t index_of(Symbol symbol) const {
    if (symbol == kMissing) return symbols;
    return symbol < symbols ? symbol : std::size_t{symbol} + 1;
  }
  [[nodiscard]] const double* matrix(std::uint32_t set, std::size_t index) const {
    return sets[set].data() + index * matrix_size();
  }
  /// eᵀx
  [[nodiscard]] double weight(const double* x) const {
    double out = 0.0;
    for (Index i = 0; i < traced; ++i) out += x[i];
    return out;
  }
};

/// How many numbers the matrices of a model are, padding left out.
[[nodiscard]] double window_model_numbers(const AnyModel& model);
/// The model must be trace preserving.
[[nodiscard]] WindowModel window_model(const AnyModel& model);

}  // namespace hqmm::detail
