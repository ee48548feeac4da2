// Failures of the GPU as errors of ours, for files that are compiled by nvcc.
#pragma once

#include <cstddef>

namespace hqmm::detail {

/// Throws what a status of the CUDA runtime means to people, `doing` being what was tried:
/// no GPU or a driver that is too old kUsage, out of memory kUsage, everything else kInternal.
[[noreturn]] void throw_cuda_error(int status, const char* doing);

/// Throws kUsage: the states of a step alone need `bytes` of the GPU's memory.
[[noreturn]] void throw_gpu_memory(std::size_t bytes, std::size_t limit);

}  // namespace hqmm::detail
