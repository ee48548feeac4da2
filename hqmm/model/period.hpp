// Periods of eigenvalues.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// Steps per turn of an eigenvalue's phase, 2π/|arg λ|; infinite for a positive real one.
[[nodiscard]] double period_of(Complex eigenvalue);

}  // namespace hqmm::detail
