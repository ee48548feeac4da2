// AnyModel: a model of any kind that a model file can hold.
#pragma once

#include <string_view>
#include <variant>

#include "hqmm/core/export.hpp"
#include "hqmm/model/filter.hpp"

namespace HQMM_API hqmm {

using AnyModel = std::variant<Hmm, Hqmm, EdgeHmm>;

[[nodiscard]] inline HmmFilter make_filter(const Hmm& model) { return HmmFilter(model); }
[[nodiscard]] inline HqmmFilter make_filter(const Hqmm& model) { return HqmmFilter(model); }
[[nodiscard]] inline EdgeHmmFilter make_filter(const EdgeHmm& model) {
  return EdgeHmmFilter(model);
}

[[nodiscard]] inline const Alphabet& alphabet_of(const AnyModel& model) {
  return std::visit([](const auto& m) -> const Alphabet& { return m.alphabet; }, model);
}
/// Hidden Markov models of both types have the kind "hmm".
[[nodiscard]] inline std::string_view kind_of(const AnyModel& model) {
  return std::holds_alternative<Hqmm>(model) ? "hqmm" : "hmm";
}
/// ‖Γ†Γ − I‖_F of an HQMM; the largest distance of a column sum from 1 of an HMM.
[[nodiscard]] double feasibility_residual(const Hmm& model);
[[nodiscard]] double feasibility_residual(const AnyModel& model);
[[nodiscard]] bool is_feasible(const AnyModel& model);

}  // namespace hqmm
