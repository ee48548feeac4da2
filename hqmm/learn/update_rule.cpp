#include "hqmm/learn/update_rule.hpp"

namespace hqmm {
using namespace detail;

Stack& UpdateRule::momentum_of(std::size_t parameter, const Stack& like) {
  if (momenta_.size() <= parameter) momenta_.resize(parameter + 1);
  Stack& momentum = momenta_[parameter];
  if (momentum.size() == 0) momentum = Stack::Zero(like.rows(), like.cols());
  return momentum;
}

}  // namespace hqmm
