// Where gradients and likelihoods are computed: on the processor, or by the GPU engine (cuda/).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/cuda/cuda_engine.hpp"
#include "hqmm/engine/device_kind.hpp"

namespace hqmm::detail {

/// Throws kUsage, with what to do about it, when the device is not there.
void require_device(DeviceKind kind);

/// The engine of a device, for one thread at a time; nothing on the CPU. `memory`: the most bytes
/// of the device's own memory to use for states; 0: what is free.
[[nodiscard]] std::unique_ptr<CudaEngine> open_device(DeviceKind kind, std::size_t memory = 0);

/// How many of several jobs may run at a time: a GPU has one, which may fill its memory.
[[nodiscard]] int jobs_on(DeviceKind kind, int threads) noexcept;

/// As provenance has it; empty on the CPU.
[[nodiscard]] std::string device_name(DeviceKind kind);

/// For what its engine cannot do: kUsage.
[[nodiscard]] Error gpu_knows_no(std::string_view what);

/// What `hqmm --version` says of the GPU engine: "with CUDA 13.0", or "not built".
[[nodiscard]] std::string cuda_version_text();

}  // namespace hqmm::detail
