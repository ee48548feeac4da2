#include "hqmm/learn/update_rule.hpp"

#include <utility>

#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm {
using namespace detail;

Stack& UpdateRule::momentum_of(std::size_t parameter, const Stack& like) {
  if (momenta_.size() <= parameter) momenta_.resize(parameter + 1);
  Stack& momentum = momenta_[parameter];
  if (momentum.size() == 0) momentum = Stack::Zero(like.rows(), like.cols());
  return momentum;
}

Stack tangent_part(const Stack& gamma, const Stack& gradient) {
  return project_tangent(gamma, gradient);
}

std::optional<Stack> nearest_feasible(const Stack& z) {
  Retraction found = retract(z);
  if (!found.converged) return {};
  return std::move(found.gamma);
}

}  // namespace hqmm
