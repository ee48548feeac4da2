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
};

template <int kLanes, int kRows>
Kernels kernels() {
  using Shape = WalkShape<kLanes, kRows>;
  return {Shape::shape(),
          Shape::kExchange * sizeof(double),
          {forward_kernel<Shape, false>, forward_kernel<Shape, true>},
          {backward_kernel<Shape, false>, backward_kernel<Shape, true>}};
}

/// By size, the smallest first.
const Kernels kKernels[] = {kernels<1, 4>(), kernels<8, 1>(),  kernels<4, 3>(), kernels<16, 1>(),
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

void launch(const SmallWalk& walk, const Kernels& of, const Kernel (&kernel)[2],
            cudaStream_t stream) {
  static const int processors = device_limit(cudaDevAttrMultiProcessorCount);
  static const auto most_shared =
      static_cast<std::size_t>(device_limit(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const unsigned tile_threads = 32 * static_cast<unsigned>(of.shape.lanes);
  const unsigned most = static_cast<unsigned>(of.shape.most_threads) / tile_threads;
  const unsigned tiles = std::clamp(walk.tiles / static_cast<unsigned>(processors), 1u, most);
  const std::size_t exchange = of.exchange * tiles * kSmallTile;
  const std::size_t table =
      std::size_t{walk.operators} * static_cast<std::size_t>(of.shape.pitch) * sizeof(double);
  const bool shared = table + exchange <= most_shared;
  const std::size_t bytes = exchange + (shared ? table : 0);
  const Kernel chosen = kernel[shared ? 1 : 0];
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "asking for shared memory");
  chosen<<<(walk.tiles + tiles - 1) / tiles, tiles * tile_threads, bytes, stream>>>(walk);
  check(cudaGetLastError(), "starting a walk");
}

}  // namespace

SmallShape small_shape(int rows) { return kernels_for(static_cast<std::size_t>(rows)).shape; }

void walk_forward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream) {
  const Kernels& of = kernels_for(shape.size());
  launch(walk, of, of.forward, stream);
}

void walk_backward(const SmallWalk& walk, const SmallShape& shape, cudaStream_t stream) {
  const Kernels& of = kernels_for(shape.size());
  launch(walk, of, of.backward, stream);
}

}  // namespace hqmm::detail
