#include "hqmm/model/kraus.hpp"

#include <cassert>
#include <cmath>
#include <stdexcept>

#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/state_gradient.hpp"
#include "hqmm/stiefel/gram.hpp"

namespace hqmm {
using namespace detail;

KrausSet::KrausSet(Index alphabet_size, Index kraus_rank, Index latent_dim)
    : KrausSet(alphabet_size, kraus_rank,
               Stack::Zero(alphabet_size * kraus_rank * latent_dim, latent_dim)) {}

KrausSet::KrausSet(Index alphabet_size, Index kraus_rank, Stack gamma)
    : s_(alphabet_size), w_(kraus_rank), stack_(std::move(gamma)) {
  assert(s_ > 0 && w_ > 0 && stack_.cols() > 0);
  assert(stack_.rows() == s_ * w_ * stack_.cols());
}

KrausSet::KrausSet(Stack transition, RealMatrix emission)
    : emits_on_(EmissionKind::kState),
      s_(emission.rows()),
      w_(transition.rows() / transition.cols()),
      stack_(std::move(transition)),
      emission_(std::move(emission)) {
  assert(s_ > 0 && w_ > 0 && stack_.rows() == w_ * stack_.cols());
  assert(emission_.cols() == stack_.cols());
}

void KrausSet::throw_misuse() const {
  throw std::logic_error(emits_on_ == EmissionKind::kState
                             ? "a Kraus set that emits on states must be expanded before it has a Γ"
                             : "a Kraus set that emits on edges has no V and C");
}

KrausSet KrausSet::expanded() const {
  if (emits_on_ == EmissionKind::kEdge) return *this;
  const Index n = latent_dim();
  KrausSet out(s_, w_, n);
  for (Index y = 0; y < s_; ++y) {
    for (Index q = 0; q < w_; ++q) {
      for (Index i = 0; i < n; ++i) out.op(y, q).row(i) = emission_(y, i) * stack_.row(q * n + i);
    }
  }
  return out;
}

Matrix KrausSet::conjugate(Index first_block, const Matrix& rho) const {
  const Index n = latent_dim();
  Matrix out = Matrix::Zero(n, n);
  Matrix moved(n, n);
  for (Index q = 0; q < w_; ++q) {
    const auto k = stack_.middleRows((first_block + q) * n, n);
    moved.noalias() = k * rho;
    out.noalias() += moved * k.adjoint();
  }
  return out;
}

Matrix KrausSet::conjugate_adjoint(Index first_block, const Matrix& effect) const {
  const Index n = latent_dim();
  Matrix out = Matrix::Zero(n, n);
  Matrix moved(n, n);
  for (Index q = 0; q < w_; ++q) {
    const auto k = stack_.middleRows((first_block + q) * n, n);
    moved.noalias() = effect * k;
    out.noalias() += k.adjoint() * moved;
  }
  return out;
}

Matrix KrausSet::unseen_factors() const {
  return (emission_.transpose() * emission_).cast<Complex>();
}

Matrix KrausSet::apply(Index y, const Matrix& rho) const {
  if (emits_on_ == EmissionKind::kEdge) return conjugate(y * w_, rho);
  const RealVector c = emission_.row(y);
  return c.asDiagonal() * conjugate(0, rho) * c.asDiagonal();
}

Matrix KrausSet::apply_total(const Matrix& rho) const {
  if (emits_on_ == EmissionKind::kState) return conjugate(0, rho).cwiseProduct(unseen_factors());
  Matrix out = Matrix::Zero(latent_dim(), latent_dim());
  for (Index y = 0; y < s_; ++y) out += apply(y, rho);
  return out;
}

Matrix KrausSet::apply_seen(Symbol symbol, const Matrix& rho) const {
  if (symbol == kMissing) return apply_total(rho);
  Matrix out = Matrix::Zero(latent_dim(), latent_dim());
  for (const Symbol y : members(static_cast<std::size_t>(s_), symbol)) out += apply(y, rho);
  return out;
}

Matrix KrausSet::apply_seen_adjoint(Symbol symbol, const Matrix& effect) const {
  if (symbol == kMissing) return apply_total_adjoint(effect);
  Matrix out = Matrix::Zero(latent_dim(), latent_dim());
  for (const Symbol y : members(static_cast<std::size_t>(s_), symbol))
    out += apply_adjoint(y, effect);
  return out;
}

Matrix KrausSet::apply_adjoint(Index y, const Matrix& effect) const {
  if (emits_on_ == EmissionKind::kEdge) return conjugate_adjoint(y * w_, effect);
  const RealVector c = emission_.row(y);
  return conjugate_adjoint(0, c.asDiagonal() * effect * c.asDiagonal());
}

Matrix KrausSet::apply_total_adjoint(const Matrix& effect) const {
  if (emits_on_ == EmissionKind::kState)
    return conjugate_adjoint(0, effect.cwiseProduct(unseen_factors()));
  Matrix out = Matrix::Zero(latent_dim(), latent_dim());
  for (Index y = 0; y < s_; ++y) out += apply_adjoint(y, effect);
  return out;
}

Matrix KrausSet::effect(Index y) const {
  if (emits_on_ == EmissionKind::kEdge) return ops(y).adjoint() * ops(y);
  const RealVector squares = emission_.row(y).cwiseAbs2();
  const RealVector repeated = squares.replicate(w_, 1);
  return stack_.adjoint() * repeated.asDiagonal() * stack_;
}

Matrix KrausSet::gram() const {
  if (emits_on_ == EmissionKind::kEdge) return detail::gram(stack_);
  const RealVector squares = emission_.colwise().squaredNorm();
  const RealVector repeated = squares.replicate(w_, 1);
  return stack_.adjoint() * repeated.asDiagonal() * stack_;
}

double KrausSet::feasibility_residual() const {
  const Index n = latent_dim();
  const double of_stack = (detail::gram(stack_) - Matrix::Identity(n, n)).norm();
  if (emits_on_ == EmissionKind::kEdge) return of_stack;
  const double of_emission = (emission_.colwise().squaredNorm().array() - 1.0).matrix().norm();
  return std::hypot(of_stack, of_emission);
}

StateGradient detail::pull_back_expansion(const KrausSet& set, const Stack& gradient) {
  const Index n = set.latent_dim();
  const Index w = set.kraus_rank();
  const Stack& v = set.transition();
  const RealMatrix& c = set.emission();
  StateGradient out{Stack::Zero(v.rows(), n), RealMatrix::Zero(c.rows(), n)};
  for (Index y = 0; y < c.rows(); ++y) {
    for (Index row = 0; row < w * n; ++row) {
      const auto g = gradient.row(y * w * n + row);
      const Index i = row % n;
      out.transition.row(row) += c(y, i) * g;
      out.emission(y, i) += v.row(row).dot(g).real();  // Re ⟨v, g⟩
    }
  }
  return out;
}

}  // namespace hqmm
