// Processes with a known truth: small exact models, most with an exact entropy rate.
//
// All but the paper's two are stationary: their models start in the stationary state. The paper's
// two come first and start as in the paper.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

struct Process {
  std::string_view name;
  std::string_view summary;  // for people: what is emitted
  AnyModel (*model)();
  std::optional<double> (*exact_entropy)();  // bits per symbol, where a formula is known
};

[[nodiscard]] std::span<const Process> processes();
/// Null for an unknown name.
[[nodiscard]] const Process* find_process(std::string_view name);

}  // namespace hqmm
