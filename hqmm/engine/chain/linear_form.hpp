// LinearForm: a model as one real matrix per operator, acting on states that are real matrices.
//
//   superoperator   x: n² × 1, ρ in an orthonormal Hermitian basis;   R = the channel of the symbol
//                   weight tr ρ: the sum of the first n coordinates;  any kraus rank, n⁴ a step
//                   of a real model: n(n+1)/2 coordinates, a quarter of the work
//   factor          x: 2n × r, A of ρ = AA†, real part over imaginary
//                   R = (Re K, −Im K; Im K, Re K)
//                   weight ‖A‖²;  kraus rank one, no missing symbols;  n²r a step
//                   of a real model: x n × r, R = K
//   pure            the factor form of a state of rank one: r = 1
//
// Words (program.hpp) are products of such matrices; real forms of complex ones need the first half
// of their columns only.
#pragma once

#include <vector>

#include "hqmm/core/panels.hpp"
#include "hqmm/engine/chain/form.hpp"
#include "hqmm/engine/chain/program.hpp"
#include "hqmm/engine/chain/word_totals.hpp"

namespace hqmm::detail {

template <int kWeightDegree>
class LinearForm {
 public:
  /// The weight is a polynomial of this degree: 1 the trace, 2 the squared norm.
  static constexpr int kDegree = kWeightDegree;
  static constexpr bool kDeferred = true;
  static constexpr bool kShared = false;

  /// Operators of rows × rows and states of rows × cols, `traced` leading coordinates in the trace.
  /// Their values are unspecified, but for the padding, which is zero. `mirrored`: operators are
  /// real forms of complex ones.
  void reshape(Index rows, Index cols, Index traced, std::size_t operators, bool mirrored = false);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index stride() const { return stride_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index traced() const { return traced_; }
  [[nodiscard]] Index state_size() const { return stride_ * cols_; }
  [[nodiscard]] std::size_t operator_size() const {
    return static_cast<std::size_t>(rows_ * stride_);
  }
  /// The table of gradients has one entry per operator of the program.
  [[nodiscard]] std::size_t gradient_count() const { return operators_; }
  [[nodiscard]] std::size_t gradient_size() const { return operator_size(); }
  /// R and Rᵀ, columns stride() apart.
  [[nodiscard]] double* forward_matrix(std::size_t op) {
    return forward_.data() + op * operator_size();
  }
  [[nodiscard]] double* backward_matrix(std::size_t op) {
    return backward_.data() + op * operator_size();
  }
  [[nodiscard]] const double* forward_matrix(std::size_t op) const {
    return forward_.data() + op * operator_size();
  }
  [[nodiscard]] const double* backward_matrix(std::size_t op) const {
    return backward_.data() + op * operator_size();
  }
  [[nodiscard]] double* initial() { return initial_.data(); }
  [[nodiscard]] const double* initial() const { return initial_.data(); }
  /// What total() applies: the Gram matrix Γ†Γ of the operator's set, as it acts on states.
  void set_totals(std::uint32_t symbols, std::vector<AlignedDoubles> totals) {
    symbols_ = symbols;
    totals_ = std::move(totals);
  }

  /// Rᵀ of an operator from its R.
  void transpose(std::size_t op);
  /// R and Rᵀ of the words of a program.
  void multiply_words(const Program& program, int threads);
  /// ∂ℓ by words becomes ∂ℓ by what they are made of.
  void chain_words(const Program& program, int threads, GradientTable& table) const;

  // What a Form is asked for.
  void copy_initial(double* x) const;
  void forward(std::uint32_t op, const double* states, std::size_t count, double* const* next,
               FormScratch& scratch) const;
  void backward(std::uint32_t op, const double* adjoints, const double* states, std::size_t count,
                double* const* previous, GradientTable& gradients, FormScratch& scratch) const;
  void accumulate(std::uint32_t op, const double* adjoints, const double* states, std::size_t count,
                  GradientTable& gradients) const;
  [[nodiscard]] double weight(const double* x) const;
  void add_slope(const double* x, double c, double* z) const;
  [[nodiscard]] double total(std::uint32_t op, const double* x, FormScratch& scratch) const;

 private:
  /// What total() needs of the words' beginnings, for a model that is not feasible.
  void write_word_totals(const Program& program, int threads);
  void write_word_total(std::size_t op);
  /// Σ_y tr 𝒦_y(ρ) of a state before any symbol of the set that the operator is of.
  [[nodiscard]] double total_before(std::uint32_t op, const double* x, FormScratch& scratch) const;
  /// R and Rᵀ of one word.
  void multiply_word(const Program& program, std::size_t i);
  /// For words [begin, end) of one length.
  void chain_level(const Program& program, std::size_t begin, std::size_t end, int threads,
                   GradientTable& table) const;
  /// `threads`, or one where so many products are done before another thread would have begun.
  [[nodiscard]] int threads_for(std::size_t products, int threads) const;
  /// C = L B of operators, or C += L B.
  [[nodiscard]] PanelProduct operator_product(const double* left, const double* right,
                                              double* out) const;

  void apply(const double* matrix, const double* states, std::size_t count,
             double* const* next) const;

  /// Columns that say all there is to say of an operator.
  [[nodiscard]] Index own_cols() const { return mirrored_ ? rows_ / 2 : rows_; }
  /// ∂ of an operator as the real form of a complex matrix again.
  void gather_complex(double* g) const;
  /// The second half of a real form from its first.
  void mirror(double* matrix) const;

  PanelKernel kernel_ = panel_kernel();
  PanelKernel step_kernel_ = kernel_;  // of one state
  PanelKernel word_kernel_ = kernel_;  // of one operator
  ColumnDot dot_ = column_dot();
  Index rows_ = 0, stride_ = 0, cols_ = 0, traced_ = 0;
  bool mirrored_ = false;
  std::size_t operators_ = 0;
  AlignedDoubles forward_, backward_, initial_;
  std::uint32_t symbols_ = 1;           // operators per set, but for the one of missing symbols
  std::vector<AlignedDoubles> totals_;  // [set]; empty for a feasible model
  WordTotals word_totals_;              // empty where totals_ are, or words
};

using TraceForm = LinearForm<1>;
using NormForm = LinearForm<2>;
static_assert(Form<TraceForm>);
static_assert(Form<NormForm>);

}  // namespace hqmm::detail
