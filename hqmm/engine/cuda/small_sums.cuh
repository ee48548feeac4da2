// ∂ℓ/∂R[op] = Σ z xᵀ, added up on the way back by the lanes that walk, for states of four numbers.
//
// A lane holds row i of the state and adds to row i of its own sums, in shared memory; at the end
// the sums of a tile's sequences are added up in their order. The other way, in small_gradient.cu,
// is for larger states, of which a lane cannot have sums of its own.
#pragma once

#include "hqmm/engine/cuda/small_walker.cuh"

namespace hqmm::detail {

/// Where the products are added up later.
struct NoSums {
  __device__ NoSums(const SmallWalk&, const double*) {}
  __device__ void finish() const {}
};

template <typename Shape>
class Sums {
 public:
  static constexpr int kSize = Shape::kSize, kPairs = kSize / 2;
  static_assert(Shape::kRows == 1 && kSize == kSumsSize);

  /// `shared`: kSumsSize numbers for each operator and thread of the block.
  __device__ Sums(const SmallWalk& walk, double* shared)
      : a(walk),
        tile_(threadIdx.x / Shape::kTileThreads),
        thread_(threadIdx.x % Shape::kTileThreads) {
    const std::size_t each = std::size_t{a.operators} * kPairs * Shape::kTileThreads;
    sums_ = reinterpret_cast<double2*>(shared) + tile_ * each;
    for (std::size_t i = thread_; i < each; i += Shape::kTileThreads) sums_[i] = {0.0, 0.0};
  }

  /// This lane's row of z xᵀ; all of the warp must call it. Nothing where the sequence has ended.
  __device__ void add(std::uint32_t op, bool active, double z, double x) {
    double2* to = place(op) + thread_;
    double2 sums[kPairs];
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) sums[pair] = to[pair * Shape::kTileThreads];
    double all[kSize];
#pragma unroll
    for (int j = 0; j < kSize; ++j) all[j] = __shfl_sync(kAllLanes, x, j, kSize);
    if (!active) return;
    used_ |= std::uint64_t{1} << op;
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      sums[pair].x = fma(z, all[2 * pair], sums[pair].x);
      sums[pair].y = fma(z, all[2 * pair + 1], sums[pair].y);
      to[pair * Shape::kTileThreads] = sums[pair];
    }
  }

  /// The sums of each tile; all of the block must call it.
  __device__ void finish() {
    __syncthreads();
    const unsigned tile = blockIdx.x * (blockDim.x / Shape::kTileThreads) + tile_;
    if (tile >= a.tiles) return;
    double* to = a.sums + std::size_t{tile} * a.operators * kSize * kSize;
    for (unsigned i = thread_; i < a.operators * kSize * kSize; i += Shape::kTileThreads)
      to[i] = total(i / (kSize * kSize), i % (kSize * kSize) / kSize, i % kSize);
    for (unsigned op = 0; op < a.operators; ++op)
      if ((used_ >> op & 1) != 0) a.used[op] = 1;
  }

 private:
  [[nodiscard]] __device__ double2* place(unsigned op) const {
    return sums_ + std::size_t{op} * kPairs * Shape::kTileThreads;
  }
  [[nodiscard]] __device__ double total(unsigned op, unsigned column, unsigned row) const {
    const double2* from = place(op) + column / 2 * Shape::kTileThreads + row;
    double sum = 0.0;
    for (int q = 0; q < Shape::kTileThreads; q += kSize)
      sum += column % 2 == 0 ? from[q].x : from[q].y;
    return sum;
  }

  const SmallWalk& a;
  unsigned tile_, thread_;
  double2* sums_;
  std::uint64_t used_ = 0;  // operators
};

}  // namespace hqmm::detail
