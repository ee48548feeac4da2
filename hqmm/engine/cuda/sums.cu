#include "hqmm/engine/cuda/sums.cuh"

namespace hqmm::detail {
namespace {

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::size_t numbers) {
  return static_cast<unsigned>((numbers + kThreads - 1) / kThreads);
}

__global__ void sum_slots_kernel(const double* parts, std::size_t slots, std::size_t size,
                                 double* out) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= size) return;
  double sum = 0.0;
  for (std::size_t slot = 0; slot < slots; ++slot) sum += parts[slot * size + i];
  out[i] = sum;
}

__global__ void repeat_kernel(const double* from, std::size_t size, std::size_t total, double* to) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < total) to[i] = from[i % size];
}

__global__ void add_kernel(const double* from, std::size_t size, double* to) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < size) to[i] += from[i];
}

__global__ void copy_unfinished_kernel(const DeviceSequence* sequences, std::uint32_t begin,
                                       std::size_t size, const double* from, double* to) {
  if (sequences[blockIdx.x].length <= begin) return;
  const std::size_t at = blockIdx.x * size;
  for (std::size_t i = threadIdx.x; i < size; i += kThreads) to[at + i] = from[at + i];
}

}  // namespace

void sum_slots(const double* parts, std::size_t slots, std::size_t size, double* out,
               cudaStream_t stream) {
  if (size == 0) return;
  sum_slots_kernel<<<blocks_for(size), kThreads, 0, stream>>>(parts, slots, size, out);
  check(cudaGetLastError(), "adding up");
}

void repeat(const double* from, std::size_t size, std::size_t count, double* to,
            cudaStream_t stream) {
  if (size * count == 0) return;
  repeat_kernel<<<blocks_for(size * count), kThreads, 0, stream>>>(from, size, size * count, to);
  check(cudaGetLastError(), "copying");
}

void add(const double* from, std::size_t size, double* to, cudaStream_t stream) {
  if (size == 0) return;
  add_kernel<<<blocks_for(size), kThreads, 0, stream>>>(from, size, to);
  check(cudaGetLastError(), "adding up");
}

void copy(const double* from, std::size_t size, double* to, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, size * sizeof(double), cudaMemcpyDeviceToDevice, stream),
        "copying");
}

void copy_unfinished(const DeviceSequence* sequences, std::size_t count, std::uint32_t begin,
                     std::size_t size, const double* from, double* to, cudaStream_t stream) {
  if (count == 0) return;
  copy_unfinished_kernel<<<static_cast<unsigned>(count), kThreads, 0, stream>>>(sequences, begin,
                                                                                size, from, to);
  check(cudaGetLastError(), "copying");
}

}  // namespace hqmm::detail
