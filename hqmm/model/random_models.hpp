// Random models: starting points for learning, and material for tests.
#pragma once

#include "hqmm/core/random.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hmm.hpp"
#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail {

/// A trace-preserving set drawn uniformly (Haar) from the Stiefel manifold.
[[nodiscard]] KrausSet random_kraus(Index alphabet_size, Index kraus_rank, Index latent_dim,
                                    RandomStream& random, Field field = Field::kComplex);
/// The same of V, with the columns of C uniform on the part of the sphere that has no negative
/// coordinates.
[[nodiscard]] KrausSet random_state_kraus(Index alphabet_size, Index kraus_rank, Index latent_dim,
                                          RandomStream& random, Field field = Field::kComplex);
/// GG†/tr(GG†) with G complex or real Gaussian (Hilbert–Schmidt measure).
[[nodiscard]] Matrix random_density_matrix(Index latent_dim, RandomStream& random,
                                           Field field = Field::kComplex);
/// |v⟩⟨v| with v uniform on the unit sphere.
[[nodiscard]] Matrix random_pure_state(Index latent_dim, RandomStream& random,
                                       Field field = Field::kComplex);
/// Columns uniform on the simplex, uniform initial distribution.
[[nodiscard]] Hmm random_hmm(const Alphabet& alphabet, Index latent_dim, RandomStream& random);
[[nodiscard]] EdgeHmm random_edge_hmm(const Alphabet& alphabet, Index latent_dim,
                                      RandomStream& random);

}  // namespace hqmm::detail
