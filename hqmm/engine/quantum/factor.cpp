#include "hqmm/engine/quantum/factor.hpp"

#include <algorithm>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/real_form.hpp"

namespace hqmm::detail {
namespace {

/// H of V diag(λ) V† from X A: in the eigenbasis, the entry of a pair comes from the column of the
/// larger eigenvalue.
Matrix state_gradient(const StateFactor& state, const Matrix& x_a) {
  const Index r = state.vectors.cols();
  const Matrix x_v = x_a * state.roots.cwiseInverse().cast<Complex>().asDiagonal();
  const Matrix inside = state.vectors.adjoint() * x_v;  // r × r
  Matrix core(r, r);
  for (Index i = 0; i < r; ++i) {
    core(i, i) = inside(i, i).real();
    for (Index j = 0; j < i; ++j) {  // eigenvalues fall: column j is the better known
      core(i, j) = inside(i, j);
      core(j, i) = std::conj(inside(i, j));
    }
  }
  const Matrix outside = x_v - state.vectors * inside;
  const Matrix across = outside * state.vectors.adjoint();
  return state.vectors * core * state.vectors.adjoint() + across + across.adjoint();
}

}  // namespace

StateFactor factor_initial_state(const Hqmm& model) {
  const Matrix& rho = model.initial_state;
  const Index n = rho.rows();
  // The two usual states need no eigenvalues: pure, and maximally mixed.
  const double purity = rho.squaredNorm();
  if (std::abs(purity - 1.0) < 1e-14) {
    Index column = 0;
    rho.diagonal().real().maxCoeff(&column);
    return {rho.col(column) / rho.col(column).norm(),
            RealVector::Constant(1, std::sqrt(rho.trace().real()))};
  }
  if (rho == Matrix::Identity(n, n) * rho(0, 0))
    return {Matrix::Identity(n, n), RealVector::Constant(n, std::sqrt(rho(0, 0).real()))};
  const HermitianEigen eigen = hermitian_eigen(rho);
  const double rounding = 1e-15 * static_cast<double>(n) * eigen.values(n - 1);
  Index rank = 1;
  while (rank < n && eigen.values(n - 1 - rank) > rounding) ++rank;
  return {eigen.vectors.rightCols(rank).rowwise().reverse(),
          eigen.values.tail(rank).reverse().cwiseSqrt()};
}

void write_factor_form(const Hqmm& model, const Program& program, const StateFactor& state,
                       bool feasible, NormForm& form) {
  const Index n = model.latent_dim();
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  const bool real = model.field == Field::kReal;
  const auto write_form = real ? write_real_matrix : write_real_form;
  form.reshape(real ? n : 2 * n, state.vectors.cols(), 0, program.operators(), !real);
  for (std::size_t op = 0; op < model.sets.size() * s; ++op) {
    const Complex* k = model.sets[op / s].gamma().data() + static_cast<Index>(op % s) * n * n;
    write_form(k, n, form.stride(), form.forward_matrix(op));
    form.transpose(op);
  }
  for (Index k = 0; k < state.vectors.cols(); ++k) {
    double* column = form.initial() + k * form.stride();
    for (Index i = 0; i < n; ++i) {
      column[i] = state.roots(k) * state.vectors(i, k).real();
      if (!real) column[n + i] = state.roots(k) * state.vectors(i, k).imag();
    }
  }
  if (!feasible) {
    std::vector<AlignedDoubles> totals;
    for (const KrausSet& set : model.sets) {
      AlignedDoubles& total = totals.emplace_back(form.operator_size());
      std::fill_n(total.data(), total.size(), 0.0);
      const Stack gram = set.gamma().adjoint() * set.gamma();
      write_form(gram.data(), n, form.stride(), total.data());
    }
    form.set_totals(static_cast<std::uint32_t>(s), std::move(totals));
  }
}

void factor_gradient(const Hqmm& model, const NormForm& form, const StateFactor& state,
                     const GradientTable& table, const std::vector<double>& initial,
                     BatchGradient& out) {
  const Index n = model.latent_dim();
  const Index stride = form.stride();
  const auto s = static_cast<std::size_t>(model.alphabet_size());
  const bool real = model.field == Field::kReal;
  const auto add_gradient = real ? add_real_gradient : add_complex_gradient;
  for (const KrausSet& set : model.sets) out.sets.push_back(Stack::Zero(set.gamma().rows(), n));
  for (std::size_t op = 0; op < model.sets.size() * s; ++op) {
    if (!table.used(op)) continue;
    add_gradient(table.values(op), n, stride, -1.0,
                 out.sets[op / s].data() + static_cast<Index>(op % s) * n * n);
  }
  if (initial.empty()) return;
  Matrix x_a(n, form.cols());  // ∂ℓ/∂A = 2XA
  for (Index k = 0; k < form.cols(); ++k) {
    const double* column = initial.data() + k * stride;
    for (Index i = 0; i < n; ++i)
      x_a(i, k) = Complex(0.5 * column[i], real ? 0.0 : 0.5 * column[n + i]);
  }
  out.initial_state = -state_gradient(state, x_a);
}

}  // namespace hqmm::detail
