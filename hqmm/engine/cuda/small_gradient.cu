// ∂ℓ/∂R[op] = Σ z xᵀ over the steps of an operator: steps are sorted by operator and cut into
// chunks.
//
// A warp adds up the products of a chunk, one operator after another. The sum over chunk c of
// operator o goes to place c + o, which no other sum has: chunks and operators only grow together.
// At last the places of an operator are added up in their order.
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "hqmm/engine/cuda/small_kernels.cuh"

namespace hqmm::detail {
namespace {

constexpr int kWarps = 4;  // of a block
constexpr std::uint32_t kLeastChunk = 64;
constexpr unsigned kAll = 0xFFFFFFFFu;

/// The products of chunks for states of kSize numbers; blockIdx.y says which columns.
template <int kSize>
struct Products {
  static constexpr int kDown = (kSize + 15) / 16;  // 16 × 8 pieces of the gradient
  static constexpr int kAllAcross = (kSize + 7) / 8;
  static constexpr int kParts = kAllAcross > 4 ? 2 : 1;
  static constexpr int kAcross = (kAllAcross + kParts - 1) / kParts;
  static constexpr std::uint32_t kItems = kSize <= 8 ? 32 : kSize <= 16 ? 16 : 8;  // at a time

  double sums[kDown][kAcross][4];
  int group, place, first_column;

  __device__ Products()
      : group(static_cast<int>(threadIdx.x) % 32 / 4),
        place(static_cast<int>(threadIdx.x) % 4),
        first_column(static_cast<int>(blockIdx.y) * kAcross * 8) {}

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) sums[i][j][k] = 0.0;
  }

  __device__ static double number(const double* of, int row, bool there) {
    return there && row < kSize ? __ldg(of + row) : 0.0;
  }

  /// Four items, of which this lane holds the one of its place.
  __device__ void add(const double* adjoints, const double* states, std::uint32_t item,
                      bool there) {
    const double* z = adjoints + std::size_t{item} * kSize;
    const double* x = states + std::size_t{item} * kSize;
    double right[kAcross];
#pragma unroll
    for (int j = 0; j < kAcross; ++j) right[j] = number(x, first_column + 8 * j + group, there);
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
      const double upper = number(z, 16 * i + group, there);
      const double lower = number(z, 16 * i + 8 + group, there);
#pragma unroll
      for (int j = 0; j < kAcross; ++j) multiply_add(sums[i][j], upper, lower, right[j]);
    }
  }

  __device__ void store(double* to) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int row = 16 * i + group + (k < 2 ? 0 : 8);
          const int column = first_column + 8 * j + 2 * place + k % 2;
          if (row < kSize && column < kSize) to[column * kSize + row] = sums[i][j][k];
        }
  }
};

template <int kSize>
__global__ void __launch_bounds__(32 * kWarps) products_kernel(const SmallProducts a) {
  constexpr std::uint32_t kItems = Products<kSize>::kItems;
  const std::uint32_t chunk = blockIdx.x * kWarps + threadIdx.x / 32;
  const std::uint64_t first = std::uint64_t{chunk} * a.chunk;
  if (first >= a.steps) return;
  const auto begin = static_cast<std::uint32_t>(first);
  const std::uint32_t end = min(a.steps - begin, a.chunk) + begin;
  const std::uint32_t lane = threadIdx.x % 32;
  Products<kSize> products;
  products.clear();
  std::uint32_t op = a.sorted_steps[begin];
  const auto place_of = [&](std::uint32_t of) {
    return a.partial + (std::size_t{chunk} + of) * (kSize * kSize);
  };
  for (std::uint32_t at = begin; at < end;) {
    const bool inside = at + lane < end;
    const std::uint32_t mine = inside ? a.sorted_steps[at + lane] : kAll;
    const std::uint32_t item = inside ? a.sorted_items[at + lane] : 0;
    const std::uint32_t same = __popc(__ballot_sync(kAll, mine == op));  // they are sorted
#pragma unroll 1
    for (std::uint32_t k = 0; k < same; k += kItems) {
#pragma unroll
      for (std::uint32_t four = 0; four < kItems; four += 4) {
        const std::uint32_t which = k + four + lane % 4;
        const std::uint32_t its = __shfl_sync(kAll, item, static_cast<int>(which % 32));
        products.add(a.adjoints, a.states, its, which < same);
      }
    }
    at += same;
    if (at >= end || same == 32) continue;
    products.store(place_of(op));
    products.clear();
    op = __shfl_sync(kAll, mine, static_cast<int>(same));
  }
  products.store(place_of(op));
}

/// The first of `count` sorted numbers that is not less.
__device__ std::uint32_t first_not_less(const std::uint32_t* sorted, std::uint32_t count,
                                        std::uint32_t than) {
  std::uint32_t begin = 0, end = count;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (sorted[middle] < than) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

constexpr std::uint32_t kSlices = 16;

/// 32 numbers of an operator's gradient: a warp adds up a slice of its chunks.
__global__ void __launch_bounds__(32 * kSlices) collect_kernel(const SmallProducts a) {
  __shared__ double slices[kSlices][33];
  __shared__ std::uint32_t bounds[2];
  const std::uint32_t op = blockIdx.x;
  if (threadIdx.x < 2)
    bounds[threadIdx.x] = first_not_less(a.sorted_steps, a.steps, op + threadIdx.x);
  __syncthreads();
  if (bounds[0] == bounds[1]) return;
  const std::uint32_t lane = threadIdx.x % 32, slice = threadIdx.x / 32;
  const std::uint32_t area = static_cast<std::uint32_t>(a.size * a.size);
  const std::uint32_t number = blockIdx.y * 32 + lane;
  const std::uint32_t first = bounds[0] / a.chunk, last = (bounds[1] - 1) / a.chunk + 1;
  const std::uint32_t each = (last - first + kSlices - 1) / kSlices;
  const std::uint32_t from = first + slice * each, to = min(last, from + each);
  double sum = 0.0;
  if (number < area) {
#pragma unroll 8
    for (std::uint32_t chunk = from; chunk < to; ++chunk)
      sum += a.partial[(std::size_t{chunk} + op) * area + number];
  }
  slices[slice][lane] = sum;
  __syncthreads();
  if (slice > 0) return;
  double total = 0.0;
#pragma unroll
  for (std::uint32_t k = 0; k < kSlices; ++k) total += slices[k][lane];
  const int row = static_cast<int>(number) % a.size, column = static_cast<int>(number) / a.size;
  if (row < a.rows && column < a.rows)
    a.gradients[(std::size_t{op} * a.rows + column) * a.stride + row] += total;
  if (number == 0) a.used[op] = 1;
}

/// An operator's gradient: a thread adds up a number of every kTileSlices-th tile.
constexpr unsigned kArea = kSumsSize * kSumsSize, kTileSlices = 32;

__global__ void __launch_bounds__(kArea* kTileSlices) sums_kernel(const SmallSums a) {
  __shared__ double slices[kTileSlices][kArea];
  const unsigned number = threadIdx.x % kArea, slice = threadIdx.x / kArea, op = blockIdx.x;
  double sum = 0.0;
#pragma unroll 4
  for (unsigned tile = slice; tile < a.tiles; tile += kTileSlices)
    sum += a.sums[(std::size_t{tile} * a.operators + op) * kArea + number];
  slices[slice][number] = sum;
  __syncthreads();
  if (slice > 0) return;
  double total = 0.0;
#pragma unroll
  for (unsigned k = 0; k < kTileSlices; ++k) total += slices[k][number];
  const int row = static_cast<int>(number % kSumsSize),
            column = static_cast<int>(number / kSumsSize);
  if (row < a.rows && column < a.rows)
    a.gradients[(std::size_t{op} * a.rows + column) * a.stride + row] += total;
}

constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    initial_kernel(const double* from, std::size_t count, int size, double* to) {
  __shared__ double sums[kThreads];
  double sum = 0.0;
  for (std::size_t b = threadIdx.x; b < count; b += kThreads)
    sum += from[b * static_cast<std::size_t>(size) + blockIdx.x];
  sums[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) to[blockIdx.x] += sums[0];
}

/// The matrices of all chunks take 32 to 128 MiB.
std::uint32_t most_chunks(int size) { return size <= 24 ? 4096 : size <= 40 ? 2048 : 1024; }

std::uint32_t chunk_count(const SmallProducts& products) {
  return (products.steps + products.chunk - 1) / products.chunk;
}

template <int kSize>
void launch_products(const SmallProducts& products, cudaStream_t stream) {
  const dim3 blocks((chunk_count(products) + kWarps - 1) / kWarps, Products<kSize>::kParts);
  products_kernel<kSize><<<blocks, 32 * kWarps, 0, stream>>>(products);
}

}  // namespace

std::size_t sort_scratch_bytes(const SmallSort& sort, cudaStream_t stream) {
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, sort.steps, sort.sorted_steps, sort.numbers,
                                        sort.sorted_items, static_cast<int>(sort.items), 0,
                                        std::bit_width(sort.largest), stream),
        "sorting steps");
  return bytes;
}

void sort_steps(const SmallSort& sort, cudaStream_t stream) {
  std::size_t bytes = sort.scratch_bytes;
  check(cub::DeviceRadixSort::SortPairs(
            sort.scratch, bytes, sort.steps, sort.sorted_steps, sort.numbers, sort.sorted_items,
            static_cast<int>(sort.items), 0, std::bit_width(sort.largest), stream),
        "sorting steps");
}

std::size_t choose_chunk(SmallProducts& products) {
  const std::uint32_t most = most_chunks(products.size);
  products.chunk = std::max(kLeastChunk, ((products.steps + most - 1) / most + 31) / 32 * 32);
  return (std::size_t{most} + products.operators) *
         static_cast<std::size_t>(products.size * products.size);
}

void add_products(const SmallProducts& products, cudaStream_t stream) {
  switch (products.size) {
    case 4:
      launch_products<4>(products, stream);
      break;
    case 8:
      launch_products<8>(products, stream);
      break;
    case 12:
      launch_products<12>(products, stream);
      break;
    case 16:
      launch_products<16>(products, stream);
      break;
    case 24:
      launch_products<24>(products, stream);
      break;
    case 32:
      launch_products<32>(products, stream);
      break;
    case 40:
      launch_products<40>(products, stream);
      break;
    case 48:
      launch_products<48>(products, stream);
      break;
    case 56:
      launch_products<56>(products, stream);
      break;
    default:
      launch_products<64>(products, stream);
      break;
  }
  check(cudaGetLastError(), "adding up gradients");
  const dim3 blocks(products.operators,
                    static_cast<unsigned>((products.size * products.size + 31) / 32));
  collect_kernel<<<blocks, 32 * kSlices, 0, stream>>>(products);
  check(cudaGetLastError(), "adding up gradients");
}

void add_sums(const SmallSums& sums, cudaStream_t stream) {
  sums_kernel<<<sums.operators, kArea * kTileSlices, 0, stream>>>(sums);
  check(cudaGetLastError(), "adding up gradients");
}

void add_initial(const double* from, std::size_t count, int size, int rows, double* to,
                 cudaStream_t stream) {
  initial_kernel<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(from, count, size, to);
  check(cudaGetLastError(), "adding up adjoints");
}

}  // namespace hqmm::detail
