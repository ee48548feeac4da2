// How loss and gradient are computed; all agree to rounding.
#pragma once

#include <string_view>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

enum class EngineKind {
  kAuto,           // the fastest for the model and the batch
  kNaive,          // the adjoint pass as it is written down
  kFactor,         // ρ = AA†; kraus rank one
  kPure,           // the factor form of a pure initial state
  kLanes,          // n = 2: a state is one vector of four numbers
  kSuperoperator,  // ρ as n² real coordinates
  kKraus,          // ρ as a matrix
};

[[nodiscard]] std::string_view name_of(EngineKind kind);
template <>
[[nodiscard]] EngineKind parse(std::string_view name);

}  // namespace hqmm
