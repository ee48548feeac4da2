// The gradient of a set that emits on states, from that of its operators.
#pragma once

#include "hqmm/model/kraus.hpp"

namespace hqmm::detail {

/// ∂ by V and C from ∂ by every K[y][q]: the chain rule of K[y][q] = diag(c_y) V_q.
struct StateGradient {
  Stack transition;
  RealMatrix emission;
};
[[nodiscard]] StateGradient pull_back_expansion(const KrausSet& set, const Stack& gradient);

}  // namespace hqmm::detail
