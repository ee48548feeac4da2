#include "hqmm/engine/cuda/small_walk.cuh"

#include <algorithm>

namespace hqmm::detail {
namespace {

using Kernel = void (*)(SmallWalk);

/// The kernels of a shape: with operators in shared memory or not.
struct Kernels {
  SmallShape shape;
  std::size_t exchange;  // bytes of shared memory per sequence
  Kernel forward[2], backward[2];
  Kernel backward_sums = nullptr;  // which adds up gradients on its way; operators are shared
};

template <int kLanes, int kRows>
Kernels kernels() {
  using Shape = WalkShape<kLanes, kRows>;
  Kernels out{Shape::shape(),
              Shape::kExchange * sizeof(double),
              {forward_kernel<Shape, false>, forward_kernel<Shape, true>},
              {backward_kernel<Shape, false, false>, backward_kernel<Shape, true, false>}};
  if constexpr (Shape::kSize == kSumsSize) out.backward_sums = backward_kernel<Shape, true, true>;
  return out;
}

/// By size, the smallest first.
const Kernels kKernels[] = {kernels<4, 1>(), kernels<8, 1>(),  kernels<4, 3>(), kernels<16, 1>(),
                            kernels<8, 3>(), kernels<16, 2>(), kernels<8, 5>(), kernels<16, 3>(),
                            kernels<8, 7>(), kernels<32, 2>()};

const Kernels& kernels_for(std::size_t rows) {
  const Kernels* found = std::begin(kKernels);
  while (found->shape.size() < rows && found + 1 != std::end(kKernels)) ++found;
  return *found;
}

int device_limit(cudaDeviceAttr what) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "asking for the GPU");
  check(cudaDeviceGetAttribute(&value, what, device), "asking for the GPU");
  return value;
}

std::size_t most_shared() {
  static const int most = device_limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return static_cast<std::size_t>(most);
}

std::size_t table_bytes(const SmallShape& shape, std::size_t operators) {
  return operators * static_cast<std::size_t>(shape.pitch) * sizeof(double);
}

/// Shared memory of a tile besides the table: what lanes exchange, and their sums.
std::size_t tile_bytes(const Kernels& of, std::size_t operators, bool sums) {
  const std::size_t threads = kSmallTile * static_cast<std::size_t>(of.shape.lanes);
  return of.exchange * kSmallTile +
         (sums ? operators * threads * kSumsSize * sizeof(double) : std::size_t{0});
}

void launch(const SmallWalk& walk, const Kernels& of, const Kernel (&kernel)[2], bool sums,
            cudaStream_t stream) {
  static const int processors = device_limit(cudaDevAttrMultiProcessorCount);
  const unsigned tile_threads = 32 * static_cast<unsigned>(of.shape.lanes);
  const unsigned most = static_cast<unsigned>(of.shape.most_threads) / tile_threads;
  const std::size_t table = table_bytes(of.shape, walk.operators);
  const std::size_t each = tile_bytes(of, walk.operators, sums);
  unsigned tiles = std::clamp(walk.tiles / static_cast<unsigned>(processors), 1u, most);
  if (sums && table + tiles * each > most_shared()) tiles = 1;
  const bool shared = table + tiles * each <= most_shared();
  const std::size_t bytes = tiles * each + (shared ? table : 0);
  const Kernel chosen = sums ? of.backward_sums : kernel[shared ? 1 : 0];
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "asking for shared memory");
  chosen<<<(walk.tiles + tiles - 1) / tiles, tiles * tile_threads, bytes, stream>>>(walk);
  check(cudaGetLastError(), "starting a walk");
}

}  // namespace

SmallShape small_shape(int rows) { return kernels_for(static_cast<std::size_t>(rows)).shape; }

bool sums_on_the_way(const SmallShape& shape, std::size_t operators) {
  const Kernels& of = kernels_for(shape.size());
  return of.backward_sums != nullptr && operators <= 64 &&
         table_bytes(shape, operators) + tile_bytes(of, operators, true) <= most_shared();
}

void walk_forward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream) {
  const Kernels& of = kernels_for(shape.size());
  launch(walk, of, of.forward, false, stream);
}

void walk_backward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream) {
  const Kernels& of = kernels_for(shape.size());
  launch(walk, of, of.backward, walk.sums != nullptr, stream);
}

}  // namespace hqmm::detail
