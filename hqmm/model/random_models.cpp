#include "hqmm/model/random_models.hpp"

#include <cmath>

#include "hqmm/core/decompositions.hpp"

namespace hqmm::detail {
namespace {

Matrix gaussian(Index rows, Index columns, RandomStream& random, Field field) {
  Matrix out(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const double re = random.normal();
      out(i, j) = {re, field == Field::kReal ? 0.0 : random.normal()};
    }
  }
  return out;
}

/// Uniform (Haar) on the Stiefel manifold.
Stack random_stiefel(Index rows, Index columns, RandomStream& random, Field field) {
  auto [q, r_diagonal] = thin_qr(gaussian(rows, columns, random, field));
  // Fixing the phases of R's diagonal makes the distribution Haar.
  for (Index j = 0; j < columns; ++j) {
    const Complex r = r_diagonal(j);
    q.col(j) *= std::abs(r) > 0.0 ? r / std::abs(r) : Complex(1.0);
  }
  if (field == Field::kReal) q.imag().setZero();  // no sign on zeros either
  return q;
}

RealMatrix random_columns(Index rows, Index columns, RandomStream& random) {
  RealMatrix out(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) out(i, j) = -std::log(1.0 - random.uniform());
    out.col(j) /= out.col(j).sum();
  }
  return out;
}

}  // namespace

KrausSet random_kraus(Index alphabet_size, Index kraus_rank, Index latent_dim, RandomStream& random,
                      Field field) {
  const Index rows = alphabet_size * kraus_rank * latent_dim;
  return {alphabet_size, kraus_rank, random_stiefel(rows, latent_dim, random, field)};
}

KrausSet random_state_kraus(Index alphabet_size, Index kraus_rank, Index latent_dim,
                            RandomStream& random, Field field) {
  Stack transition = random_stiefel(kraus_rank * latent_dim, latent_dim, random, field);
  RealMatrix emission(alphabet_size, latent_dim);
  for (Index i = 0; i < latent_dim; ++i) {
    for (Index y = 0; y < alphabet_size; ++y) emission(y, i) = std::abs(random.normal());
    emission.col(i).normalize();
  }
  return {std::move(transition), std::move(emission)};
}

Matrix random_density_matrix(Index latent_dim, RandomStream& random, Field field) {
  const Matrix g = gaussian(latent_dim, latent_dim, random, field);
  const Matrix square = g * g.adjoint();
  return square / square.trace().real();
}

Matrix random_pure_state(Index latent_dim, RandomStream& random, Field field) {
  const Matrix v = gaussian(latent_dim, 1, random, field).normalized();
  return v * v.adjoint();
}

Hmm random_hmm(const Alphabet& alphabet, Index latent_dim, RandomStream& random) {
  Hmm hmm;
  hmm.alphabet = alphabet;
  hmm.transition = random_columns(latent_dim, latent_dim, random);
  hmm.emission = random_columns(static_cast<Index>(alphabet.size()), latent_dim, random);
  hmm.initial = RealVector::Constant(latent_dim, 1.0 / static_cast<double>(latent_dim));
  return hmm;
}

EdgeHmm random_edge_hmm(const Alphabet& alphabet, Index latent_dim, RandomStream& random) {
  const auto s = static_cast<Index>(alphabet.size());
  const RealMatrix all = random_columns(s * latent_dim, latent_dim, random);
  EdgeHmm hmm{
      alphabet, {}, RealVector::Constant(latent_dim, 1.0 / static_cast<double>(latent_dim))};
  for (Index y = 0; y < s; ++y) hmm.edges.emplace_back(all.middleRows(y * latent_dim, latent_dim));
  return hmm;
}

}  // namespace hqmm::detail
