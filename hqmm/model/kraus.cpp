#include "hqmm/model/kraus.hpp"

#include <cassert>

#include "hqmm/stiefel/gram.hpp"

namespace hqmm {

KrausSet::KrausSet(Index alphabet_size, Index kraus_rank, Index latent_dim)
    : KrausSet(alphabet_size, kraus_rank,
               Stack::Zero(alphabet_size * kraus_rank * latent_dim, latent_dim)) {}

KrausSet::KrausSet(Index alphabet_size, Index kraus_rank, Stack gamma)
    : s_(alphabet_size), w_(kraus_rank), gamma_(std::move(gamma)) {
  assert(s_ > 0 && w_ > 0 && gamma_.cols() > 0);
  assert(gamma_.rows() == s_ * w_ * gamma_.cols());
}

Matrix KrausSet::apply(Index y, const Matrix& rho) const {
  const Index n = latent_dim();
  Matrix out = Matrix::Zero(n, n);
  Matrix moved(n, n);
  for (Index q = 0; q < w_; ++q) {
    moved.noalias() = op(y, q) * rho;
    out.noalias() += moved * op(y, q).adjoint();
  }
  return out;
}

Matrix KrausSet::apply_total(const Matrix& rho) const {
  Matrix out = Matrix::Zero(latent_dim(), latent_dim());
  for (Index y = 0; y < s_; ++y) out += apply(y, rho);
  return out;
}

Matrix KrausSet::effect(Index y) const { return ops(y).adjoint() * ops(y); }

double KrausSet::feasibility_residual() const {
  const Index n = latent_dim();
  return (gram(gamma_) - Matrix::Identity(n, n)).norm();
}

}  // namespace hqmm
