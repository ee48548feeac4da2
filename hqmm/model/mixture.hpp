// Mixtures: a direct sum of models is a model.
//
//   K[y][q] = ⊕_m K_m[y][q],   ρ₀ = ⊕_m λ_m ρ₀_m      P(x) = Σ_m λ_m P_m(x), exactly
//
// n is the sum of the members' and w the largest of theirs; members of fewer operators have zeros
// for the rest. The sum emits on edges, whatever its members do, and is real if all are.
#pragma once

#include <span>
#include <vector>

#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail {

/// One member at least, over one alphabet and with equal position maps; weights positive, adding up
/// to 1. Throws kUsage otherwise.
[[nodiscard]] Hqmm mixture(std::span<const Hqmm> members, std::span<const double> weights);

struct Components {
  std::vector<Hqmm> members;
  std::vector<double> weights;
};

/// The members a model is a direct sum of: stretches of the basis that no operator and no entry of
/// ρ₀ connects. A model that is not a mixture is its only member. Members of weight zero are left
/// out. For a trace-preserving model: each member is one then.
[[nodiscard]] Components components_of(const Hqmm& model);

}  // namespace hqmm::detail
