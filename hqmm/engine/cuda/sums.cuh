// Small kernels around the passes: copies, and sums in a fixed order.
#pragma once

#include "hqmm/engine/cuda/device.cuh"
#include "hqmm/engine/cuda/matrix_pass.hpp"

namespace hqmm::detail {

/// out = Σ_slot parts[slot], slot after slot.
void sum_slots(const double* parts, std::size_t slots, std::size_t size, double* out,
               cudaStream_t stream);
/// The same numbers `count` times.
void repeat(const double* from, std::size_t size, std::size_t count, double* to,
            cudaStream_t stream);
/// to += from
void add(const double* from, std::size_t size, double* to, cudaStream_t stream);
void copy(const double* from, std::size_t size, double* to, cudaStream_t stream);
/// The states of those sequences that are longer than `begin`.
void copy_unfinished(const DeviceSequence* sequences, std::size_t count, std::uint32_t begin,
                     std::size_t size, const double* from, double* to, cudaStream_t stream);

}  // namespace hqmm::detail
