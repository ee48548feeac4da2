// Scores on their way to another process that works on the same task (core/ranks.hpp).
#pragma once

#include "hqmm/core/packing.hpp"
#include "hqmm/score/score.hpp"

namespace hqmm::detail {

void pack(const Score& score, Packer& out);
[[nodiscard]] Score unpack_score(Unpacker& in);

}  // namespace hqmm::detail
