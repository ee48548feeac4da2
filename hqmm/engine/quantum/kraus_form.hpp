// The Kraus form: ρ as it is, n × n; for operators too large or of too low a rank for the
// superoperator form to pay.
//
//   forward    ρ ← D (Σ_q (K_q ρ) K_q†) D       backward   U_q = (S D) K_q;  S ← Σ_q (K_q† D) U_q
//   gradient   ∂ℓ/∂K_q = 2 Σ D U_q ρ,  ∂ℓ/∂c_i = 2 Σ_q Re ⟨row i of K_q, row i of U_q ρ⟩
//
// with D = I for emission on edges; on states the K_q are the V_q of all symbols and D = diag(c) is
// that of the symbol. A missing symbol scales entries by those of CᵀC instead.
//
// A complex ρ has real parts over imaginary parts in each column. Written down, a step is 20·w·n³
// multiplications of reals. Complex products take three real ones instead of four, and what they
// give is Hermitian wherever it is a state or an adjoint, so that half of it is enough: about
// 12·w·n³ are left (core/planes.hpp). For that, left factors are states, adjoints and operators,
// and right factors, which need their sums beside them, operators and what the first product of a
// pair wrote:
//
//   V_q = ρ K_q†, ρ ← Σ_q K_q V_q        U_q = S K_q, S ← Σ_q K_q† U_q,  ∂ℓ/∂K_qᵀ += ρ* U_qᵀ
//
// A real ρ is n × n numbers: a step has five products, two of which only need their lower half.
#pragma once

#include <vector>

#include "hqmm/core/panels.hpp"
#include "hqmm/core/planes.hpp"
#include "hqmm/engine/chain/form.hpp"
#include "hqmm/engine/chain/program.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/kraus_kernels.hpp"

namespace hqmm::detail {

class KrausForm {
 public:
  static constexpr int kDegree = 1;  // of the weight, the trace
  static constexpr bool kDeferred = false;
  static constexpr bool kShared = false;

  void write(const Hqmm& model, bool feasible);
  [[nodiscard]] double* initial() { return initial_.data(); }

  [[nodiscard]] Index state_size() const { return stride_ * n_; }
  /// The table of gradients has one entry per matrix of Γ or V, whatever the program's operators.
  /// On states two more things per set lie after them: see by_unseen() and by_emission().
  [[nodiscard]] std::size_t gradient_count() const {
    return sets_ * blocks_ + (on_states_ ? sets_ * (1 + emission_entries()) : 0);
  }
  [[nodiscard]] std::size_t gradient_size() const { return size(); }

  // What a Form is asked for.
  void copy_initial(double* x) const;
  void forward(std::uint32_t op, const double* states, std::size_t count, double* const* next,
               FormScratch& scratch) const;
  void backward(std::uint32_t op, const double* adjoints, const double* states, std::size_t count,
                double* const* previous, GradientTable& gradients, FormScratch& scratch) const;
  [[nodiscard]] double weight(const double* x) const;
  void add_slope(const double* x, double c, double* z) const;
  [[nodiscard]] double total(std::uint32_t op, const double* x, FormScratch& scratch) const;

  /// ∂loss by Γ, or by V and C, and by the initial state unless `initial` is empty.
  void write_gradient(const Hqmm& model, const GradientTable& table,
                      const std::vector<double>& initial, BatchGradient& out) const;

 private:
  /// The matrices of an operator, `runs` times w of them, and what scales the entries of their
  /// channel's image.
  struct Step {
    std::size_t set, first, runs;    // first: of all sets' matrices, one set after another
    const double* scale = nullptr;   // c of the symbol, on states
    const double* unseen = nullptr;  // CᵀC, if it is missing there
    std::size_t symbol = 0;          // of all sets' symbols
  };
  [[nodiscard]] Step step_of(std::uint32_t op) const;
  /// States that go back together, all by the same matrices.
  struct StatesBack {
    const double* const* lefts;  // S D of each
    const double* states;
    std::size_t count;
    double* const* previous;
    bool add;  // to `previous`
  };
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(state_size()); }
  [[nodiscard]] std::size_t matrix_size() const {
    return static_cast<std::size_t>(n_ * matrix_stride_);
  }
  [[nodiscard]] const double* matrix(std::size_t block) const {
    return matrices_.data() + block * matrix_size();
  }
  [[nodiscard]] const double* adjoint(std::size_t block) const {
    return adjoints_.data() + block * matrix_size();
  }
  /// Doubles of c of a symbol, and entries of the table that hold ∂ℓ/∂C of a set.
  [[nodiscard]] std::size_t emission_rows() const {
    return static_cast<std::size_t>(padded_rows(rows_));
  }
  [[nodiscard]] std::size_t emission_entries() const {
    return (symbols_ * emission_rows() + size() - 1) / size();
  }
  [[nodiscard]] Columns columns(Index count) const {
    return {.rows = padded_rows(rows_), .cols = count, .stride = stride_};
  }
  /// The entry that holds ∂ℓ by CᵀC of a set, and the first of those by C.
  [[nodiscard]] std::size_t by_unseen(std::size_t set) const { return sets_ * blocks_ + set; }
  [[nodiscard]] std::size_t by_emission(std::size_t set) const {
    return sets_ * (blocks_ + 1) + set * emission_entries();
  }

  void write_matrices(const Hqmm& model);
  void write_emissions(const Hqmm& model);
  void write_state(const Matrix& from, double* to) const;
  [[nodiscard]] Matrix read_state(const double* from) const;
  /// Whether products are right above the diagonal.
  [[nodiscard]] bool is_whole() const;
  void mirror(double* x) const;
  void channel(const Step& step, const double* rho, FormScratch& scratch, double* out) const;
  void finish(const Step& step, double* x) const;
  [[nodiscard]] std::size_t states_together() const;
  [[nodiscard]] const double* left_factor(const Step& step, const double* adjoint,
                                          double* buffer) const;
  [[nodiscard]] const double* scaled_adjoints(const Step& step, std::size_t first,
                                              FormScratch& scratch) const;
  void move_back(const Step& step, const double* adjoints, const double* states, std::size_t count,
                 double* const* previous, GradientTable& gradients, FormScratch& scratch) const;
  double* emission_gradient(const Step& step, GradientTable& gradients) const;
  void add_by_unseen(const Step& step, const double* adjoint, const double* state,
                     GradientTable& gradients, FormScratch& scratch) const;
  void write_emission_gradient(const KrausSet& set, std::size_t index, const GradientTable& table,
                               BatchGradient& out) const;

  // Of real models: kraus_real.cpp
  [[nodiscard]] PanelProduct real_product() const;
  void real_channel(const double* rho, std::size_t first, bool add, FormScratch& scratch,
                    double* out) const;
  void real_back(const Step& step, std::size_t first, const StatesBack& back,
                 GradientTable& gradients, FormScratch& scratch) const;
  void add_by_real_matrix(const Step& step, std::size_t block, const double* moved,
                          const StatesBack& back, GradientTable& gradients,
                          FormScratch& scratch) const;

  // Of complex models: kraus_complex.cpp
  [[nodiscard]] PlaneProduct to_stack(const double* left, const double* right, double* out) const;
  [[nodiscard]] PlaneProduct from_stack(const double* left, const double* stack, double* out) const;
  void write_planes(const Complex* k, bool adjoint, double* out) const;
  void complex_channel(const double* rho, std::size_t first, bool add, FormScratch& scratch,
                       double* out) const;
  void complex_back(const Step& step, std::size_t first, const StatesBack& back,
                    GradientTable& gradients, FormScratch& scratch) const;
  void add_by_complex_matrix(const Step& step, std::size_t block, const double* moved,
                             const StatesBack& back, GradientTable& gradients,
                             FormScratch& scratch) const;

  PanelKernel kernel_ = panel_kernel();
  PlaneKernels planes_ = plane_kernels();
  KrausKernels kernels_ = kraus_kernels();
  ColumnDot dot_ = column_dot();
  bool real_ = false, on_states_ = false;
  Index n_ = 0, plane_ = 0;      // rows of real parts, and of imaginary parts below them
  Index rows_ = 0, stride_ = 0;  // of a state
  Index matrix_stride_ = 0;      // of an operator
  Index stack_plane_ = 0, stack_stride_ = 0;
  std::size_t sets_ = 0, symbols_ = 0, rank_ = 0, blocks_ = 0;  // blocks: matrices of a set
  /// [set][block]: a matrix and its adjoint; of a complex one three planes in each column
  AlignedDoubles matrices_, adjoints_;
  AlignedDoubles initial_;
  AlignedDoubles emissions_;           // [set][y]: c of every row
  AlignedDoubles unseen_;              // [set]: CᵀC, laid out as a state
  std::vector<AlignedDoubles> grams_;  // [set]: Γ†Γ; empty for a feasible model
};
static_assert(Form<KrausForm>);

}  // namespace hqmm::detail
