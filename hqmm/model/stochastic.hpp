// What both types of hidden Markov models ask of their matrices.
#pragma once

#include <string>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// How far from 1 a sum of probabilities may be.
inline constexpr double kSumTolerance = 1e-9;

/// Throws kBadData naming the first entry that is negative or not finite.
void require_weights(const RealMatrix& matrix, const std::string& name);
/// The same, and that columns sum to 1.
void require_stochastic_columns(const RealMatrix& matrix, const std::string& name);

}  // namespace hqmm::detail
