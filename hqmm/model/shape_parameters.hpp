// Free parameters by sizes alone: parameters.hpp says why so many.
#pragma once

#include "hqmm/model/parameters.hpp"

namespace hqmm::detail {

/// The sizes and the structure of an HQMM.
struct HqmmShape {
  Index latent_dim = 1;
  Index alphabet_size = 1;
  Index kraus_rank = 1;
  Field field = Field::kComplex;
  EmissionKind emission = EmissionKind::kEdge;
};
/// `of_initial`: real parameters of the initial state that are learned; I/n has none.
[[nodiscard]] std::size_t hqmm_parameters(const HqmmShape& shape, std::size_t of_initial = 0);
/// With the initial distribution. A = n(n−1) + n(s−1) + n−1, without any continuous freedom.
[[nodiscard]] std::size_t hmm_parameters(Index latent_dim, Index alphabet_size);
/// With the initial distribution: B, since small changes of basis keep positive entries positive.
[[nodiscard]] std::size_t edge_hmm_parameters(Index latent_dim, Index alphabet_size);

}  // namespace hqmm::detail
