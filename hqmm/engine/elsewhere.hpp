// What the likelihoods of a share say of the sequences that are in another one.
#pragma once

#include <cstdint>

namespace hqmm::detail {

/// SequenceLikelihood::scored of such a sequence.
inline constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

}  // namespace hqmm::detail
