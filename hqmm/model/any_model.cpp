#include "hqmm/model/any_model.hpp"

#include <algorithm>

namespace hqmm {
using namespace detail;

double feasibility_residual(const Hmm& model) {
  const auto worst = [](const RealMatrix& m) {
    return (m.colwise().sum().array() - 1.0).abs().maxCoeff();
  };
  return std::max({worst(model.transition), worst(model.emission), worst(model.initial)});
}

double feasibility_residual(const AnyModel& model) {
  return std::visit([](const auto& m) { return feasibility_residual(m); }, model);
}

bool is_feasible(const AnyModel& model) {
  return feasibility_residual(model) <= kFeasibleTolerance;
}

}  // namespace hqmm
