// The Kraus form: ρ as it is, n × n, real parts over imaginary parts of each column; for operators
// too large or of too low a rank for the superoperator form to pay.
//
//   forward    ρ ← Σ_q (K ρ) K†           backward   U_q = S K_q;  S ← Σ_q K_q† U_q
//   gradient   ∂ℓ/∂K_q = 2 Σ U_q ρ
//
// 20·w·n³ multiplications of reals a step. No transposition: a right factor of a product is read in
// any order, a left one Y needs iY beside it.
#pragma once

#include <vector>

#include "hqmm/core/panels.hpp"
#include "hqmm/engine/quantum/form.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/program.hpp"

namespace hqmm {

class KrausForm {
 public:
  static constexpr int kDegree = 1;  // of the weight, the trace
  static constexpr bool kDeferred = false;

  void write(const Hqmm& model, bool feasible);
  [[nodiscard]] double* initial() { return initial_.data(); }

  [[nodiscard]] Index state_size() const { return stride_ * n_; }
  /// The table of gradients has one entry per Kraus operator of Γ, whatever the program's
  /// operators.
  [[nodiscard]] std::size_t gradient_count() const { return sets_ * symbols_ * rank_; }
  [[nodiscard]] std::size_t gradient_size() const { return matrix_size(); }

  // What a Form is asked for.
  void copy_initial(double* x) const;
  void forward(std::uint32_t op, const double* states, std::size_t count, double* const* next,
               FormScratch& scratch) const;
  void backward(std::uint32_t op, const double* adjoints, const double* states, std::size_t count,
                double* const* previous, GradientTable& gradients, FormScratch& scratch) const;
  [[nodiscard]] double weight(const double* x) const;
  void add_slope(const double* x, double c, double* z) const;
  [[nodiscard]] double total(std::uint32_t op, const double* x, FormScratch& scratch) const;

  /// ∂loss/∂Γ, and by the initial state unless `initial` is empty.
  void write_gradient(const Hqmm& model, const GradientTable& table,
                      const std::vector<double>& initial, BatchGradient& out) const;

 private:
  struct Blocks {
    std::size_t set, first, count;  // first: of all sets' matrices, one set after another
  };
  [[nodiscard]] Blocks blocks_of(std::uint32_t op) const;
  [[nodiscard]] std::size_t matrix_size() const {
    return static_cast<std::size_t>(2 * n_ * stride_);
  }
  [[nodiscard]] const double* matrix(std::size_t block) const {
    return matrices_.data() + block * matrix_size();
  }
  [[nodiscard]] const double* adjoint(std::size_t block) const {
    return adjoints_.data() + block * matrix_size();
  }

  PanelKernel kernel_ = panel_kernel();
  Index n_ = 0, stride_ = 0;
  std::size_t sets_ = 0, symbols_ = 0, rank_ = 0;
  AlignedDoubles matrices_, adjoints_;  // [set][y][q]: the real form of K and of K†
  AlignedDoubles initial_;
  std::vector<AlignedDoubles> grams_;  // [set]: Γ†Γ; empty for a feasible model
};
static_assert(Form<KrausForm>);

}  // namespace hqmm
