// The superoperator form of emission on states without a matrix per symbol, for larger alphabets:
//
//   forward   x ← e_y ∘ (C x)        C the channel of V, e_y the factors of the symbol
//   backward  z ← Cᵀ (e_y ∘ z)       ∂ℓ/∂C = Σ (e_y ∘ z) xᵀ,  ∂ℓ/∂e_y = Σ z ∘ (C x)
//
// All states of a step are multiplied together, whatever their symbols. C x is what the step made
// of x, divided by e_y; where that is too small to divide by it is recomputed.
#pragma once

#include <span>
#include <vector>

#include "hqmm/core/panels.hpp"
#include "hqmm/engine/chain/form.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/state_channel.hpp"

namespace hqmm::detail {

class ChannelForm {
 public:
  static constexpr int kDegree = 1;  // of the weight, the trace
  static constexpr bool kDeferred = true;
  static constexpr bool kShared = true;

  void write(const Hqmm& model, bool feasible, SymbolScratch& scratch);
  [[nodiscard]] double* initial() { return initial_.data(); }

  [[nodiscard]] Index state_size() const { return stride_; }
  /// The table of gradients: C of every set, then the factors of all operators in a row.
  [[nodiscard]] std::size_t gradient_count() const { return sets_ + factor_entries(); }
  [[nodiscard]] std::size_t gradient_size() const { return matrix_size(); }

  // What a Form is asked for.
  [[nodiscard]] std::span<const std::uint32_t> keys() const { return keys_; }
  void copy_initial(double* x) const;
  void forward(const std::uint32_t* ops, const double* states, std::size_t count,
               double* const* next, FormScratch& scratch) const;
  void backward(const SharedStep& step, double* const* previous, GradientTable& gradients,
                FormScratch& scratch) const;
  void accumulate(std::uint32_t set, const double* adjoints, const double* states,
                  std::size_t count, GradientTable& gradients) const;
  [[nodiscard]] double weight(const double* x) const;
  void add_slope(const double* x, double c, double* z) const;
  [[nodiscard]] double total(std::uint32_t op, const double* x, FormScratch& scratch) const;

  /// ∂loss by V and C, and by the initial state unless `initial` is empty.
  void write_gradient(const Hqmm& model, const GradientTable& table,
                      const std::vector<double>& initial, SymbolScratch& scratch,
                      BatchGradient& out) const;

 private:
  [[nodiscard]] std::size_t matrix_size() const {
    return static_cast<std::size_t>(rows_ * stride_);
  }
  [[nodiscard]] const double* factors(std::size_t op) const {
    return factors_.data() + op * static_cast<std::size_t>(stride_);
  }
  [[nodiscard]] std::size_t factor_entries() const {
    return (keys_.size() * static_cast<std::size_t>(stride_) + matrix_size() - 1) / matrix_size();
  }
  void apply(const double* matrices, std::uint32_t set, const double* states, std::size_t count,
             double* const* next) const;
  void add_small(std::uint32_t op, const double* z, const double* image, double unscaled,
                 const double* state, double* by) const;
  [[nodiscard]] double image_at(std::uint32_t set, Index row, const double* state) const;
  [[nodiscard]] RealVector by_factors(std::size_t op, const GradientTable& table) const;

  PanelKernel kernel_ = panel_kernel();
  bool real_ = false;
  Index n_ = 0, rows_ = 0, stride_ = 0;
  std::size_t sets_ = 0, symbols_ = 0;
  AlignedDoubles forward_, backward_;  // [set]: C and Cᵀ
  AlignedDoubles factors_;             // [operator]
  AlignedDoubles initial_;
  std::vector<char> small_;          // [operator]: has factors too small to divide by
  std::vector<std::uint32_t> keys_;  // [operator]: its set
  std::vector<RealVector> totals_;   // [set]: Γ†Γ; empty for a feasible model
};
static_assert(Form<ChannelForm>);

}  // namespace hqmm::detail
