// The start for position-dependent models: every set independent symbols at first, of the
// frequencies its positions show, and a little noise to learn from.
//
//   on edges    K[set][y][0] = √p_set(y)·I, all other operators 0;  + noise;  polar factor
//   on states   V[set][0] = I, all others 0, and columns of C √p_set;  + noise;  polar factors
#pragma once

#include <span>

#include "hqmm/core/random.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/hqmm.hpp"
#include "hqmm/model/parameters.hpp"
#include "hqmm/model/shape_parameters.hpp"

namespace hqmm::detail {

/// p_set(y), sets × s: how often y stands where a set acts, `pseudo_count` (≥ 0) added to each
/// count. Missing symbols count nowhere; a set nothing is known of is uniform.
[[nodiscard]] RealMatrix position_frequencies(std::span<const SequenceView> sequences,
                                              const PositionMap& positions, std::size_t sets,
                                              std::size_t alphabet_size, double pseudo_count);

/// A feasible set of these frequencies. `noise` is the expected norm of what is added to a column
/// of Γ, or of V or C, which has norm 1 itself.
[[nodiscard]] KrausSet kraus_of_frequencies(const RealVector& frequencies, const HqmmShape& shape,
                                            double noise, RandomStream& random);

}  // namespace hqmm::detail
