// Small kernels around the walks: tables of operators, the operators of a segment's steps.
#include "hqmm/engine/cuda/small_kernels.cuh"

namespace hqmm::detail {
namespace {

constexpr unsigned kThreads = 256;

__global__ void tables_kernel(const SmallTables tables, bool backward) {
  const std::size_t op = blockIdx.x;
  const double* from = tables.matrices + op * static_cast<std::size_t>(tables.rows * tables.stride);
  const std::size_t to = op * static_cast<std::size_t>(tables.pitch);
  for (int at = static_cast<int>(threadIdx.x); at < tables.pitch; at += kThreads) {
    const int i = at % tables.size, j = at / tables.size;
    const bool inside = i < tables.rows && j < tables.rows;
    tables.forward[to + at] = inside ? from[j * tables.stride + i] : 0.0;
    if (backward) tables.backward[to + at] = inside ? from[i * tables.stride + j] : 0.0;
  }
  if (op > 0) return;
  for (int i = static_cast<int>(threadIdx.x); i < tables.size; i += kThreads)
    tables.padded_initial[i] = i < tables.rows ? tables.initial[i] : 0.0;
}

__device__ std::uint32_t set_at(const SmallWalk& a, std::uint32_t t, std::uint32_t length) {
  const std::uint32_t last = a.set_entries - 1;
  if (!a.from_end) return a.set_of[min(t, last)];
  const std::uint32_t to_end = length - 1 - t;
  return a.set_of[to_end >= last ? 0 : last - to_end];
}

__device__ std::uint32_t operator_at(const SmallWalk& a, const SmallSequence& sequence,
                                     std::uint32_t t) {
  std::uint32_t symbol = 0;
  bool missing = false;
  if ((sequence.place & SmallSequence::kWide) != 0) {
    symbol = reinterpret_cast<const std::uint16_t*>(sequence.symbols)[t];
    missing = symbol == 0xFFFF;
  } else {
    symbol = reinterpret_cast<const std::uint8_t*>(sequence.symbols)[t];
    missing = symbol == 0xFF;
  }
  const std::uint32_t set = set_at(a, t, sequence.length);
  if (missing) return a.plain + set;
  if (symbol < a.symbols) return set * a.symbols + symbol;
  atomicOr(&a.header->strange, 1u);
  return 0;
}

/// 32 steps of a tile: read along the sequences, written across them.
__global__ void steps_kernel(const SmallWalk a) {
  __shared__ std::uint32_t block[kSmallTile][kSmallTile + 1];
  const std::uint32_t first = blockIdx.y * a.width;
  const std::uint32_t from = a.begin + blockIdx.x * 32;
  const std::uint32_t tile_end = a.whole ? min(a.sequences[first].length, a.end) : a.end;
  if (from >= tile_end) return;
  const std::uint32_t t = from + threadIdx.x;
  for (std::uint32_t q = threadIdx.y; q < a.width; q += blockDim.y) {
    std::uint32_t op = a.operators;
    if (first + q < a.count) {
      const SmallSequence sequence = a.sequences[first + q];
      if (t < min(sequence.length, a.end)) op = operator_at(a, sequence, t);
    }
    block[q][threadIdx.x] = op;
  }
  __syncthreads();
  std::uint32_t* to = a.steps + a.tile_first[blockIdx.y];
  for (std::uint32_t k = threadIdx.y; k < 32 && from + k < tile_end; k += blockDim.y) {
    if (threadIdx.x < a.width)
      to[std::size_t{from + k - a.begin} * a.width + threadIdx.x] = block[threadIdx.x][k];
  }
}

__global__ void numbers_kernel(std::uint32_t* to, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) to[i] = static_cast<std::uint32_t>(i);
}

}  // namespace

void write_tables(const SmallTables& tables, std::size_t operators, bool backward,
                  cudaStream_t stream) {
  tables_kernel<<<static_cast<unsigned>(operators), kThreads, 0, stream>>>(tables, backward);
  check(cudaGetLastError(), "writing operators");
}

void write_steps(const SmallWalk& walk, std::uint32_t longest, cudaStream_t stream) {
  const std::uint32_t last = walk.whole && longest < walk.end ? longest : walk.end;
  const dim3 blocks((last - walk.begin + 31) / 32, walk.tiles);
  steps_kernel<<<blocks, dim3(32, 8), 0, stream>>>(walk);
  check(cudaGetLastError(), "writing steps");
}

void write_numbers(std::uint32_t* to, std::size_t count, cudaStream_t stream) {
  numbers_kernel<<<static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      to, count);
  check(cudaGetLastError(), "writing numbers");
}

}  // namespace hqmm::detail
