// Where gradients and likelihoods are computed.
#pragma once

#include <string_view>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

enum class DeviceKind {
  kCpu,
  kCuda,  // an NVIDIA GPU, in a build that has the engine for it
};

[[nodiscard]] std::string_view name_of(DeviceKind kind);
template <>
[[nodiscard]] DeviceKind parse(std::string_view name);

}  // namespace hqmm
