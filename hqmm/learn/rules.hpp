// The update rules of the learners.
#pragma once

#include <memory>

#include "hqmm/learn/cosm.hpp"
#include "hqmm/learn/ns_ris.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

/// After so many halvings the step is given up: the direction is not finite.
inline constexpr std::uint64_t kMostHalvings = 60;

/// G − c⟨c, G⟩: the part of G in the tangent space of the sphere at c.
[[nodiscard]] inline RealVector tangent_of_sphere(const RealVector& c, const RealVector& g) {
  return g - c.dot(g) * c;
}

/// Tangent momentum scaled by a second moment of the gradient's norm, whose decay of 0 means none.
[[nodiscard]] std::unique_ptr<UpdateRule> make_scaled_momentum(double momentum,
                                                               double second_moment);

}  // namespace hqmm::detail
