// One sequence in the hands of a few lanes: kLanes lanes of a warp take it along, each of them
// kRows rows of its state, a tile of sequences in 32 · kLanes threads.
//
// Lanes of a warp are always at the same step; sequences that have ended stay where they are.
#pragma once

#include "hqmm/engine/cuda/small_kernels.cuh"

namespace hqmm::detail {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

/// Of a normal number; 1022 at most, so that its inverse is a normal number, too.
__device__ inline int exponent_of(double weight) {
  return min(static_cast<int>(__double_as_longlong(weight) >> 52), 2045) - 1023;
}
__device__ inline double power_of_two(int exponent) {
  return __longlong_as_double(static_cast<long long>(exponent + 1023) << 52);
}

template <int kTheLanes, int kTheRows>
struct WalkShape {
  static constexpr int kLanes = kTheLanes, kRows = kTheRows;
  static constexpr int kSize = kLanes * kRows;
  // the matrices of different operators begin in different banks of shared memory
  static constexpr int kPitch = kSize * kSize + (kLanes < 16 ? kLanes : 0);
  static constexpr int kTileThreads = 32 * kLanes;
  static constexpr int kMostThreads = kTileThreads > 256 ? kTileThreads : 256;
  static constexpr int kAhead = kSize == kSumsSize ? 8 : 2;  // operators are fetched so early
  static constexpr int kExchangeRow = kSize + 2;
  static constexpr int kExchange = 2 * kExchangeRow;  // numbers per sequence
  static constexpr int kUnroll = kSize <= 16 ? kSize / 2 : 4;

  static SmallShape shape() { return {kLanes, kRows, kPitch, kMostThreads}; }
};

/// Where a lane is, and what it can do there.
template <typename Shape, bool kShared>
class Walker {
 public:
  static constexpr int kLanes = Shape::kLanes, kRows = Shape::kRows, kSize = Shape::kSize;

  __device__ Walker(const SmallWalk& walk, const double* table) : a(walk), table_(table) {
    extern __shared__ double2 small_shared[];
    auto* shared = reinterpret_cast<double*>(small_shared);
    const int each = static_cast<int>(threadIdx.x) / kLanes;
    if constexpr (kShared) {
      const std::size_t pairs = std::size_t{a.operators} * Shape::kPitch / 2;
      for (std::size_t i = threadIdx.x; i < pairs; i += blockDim.x)
        small_shared[i] = reinterpret_cast<const double2*>(table)[i];
      __syncthreads();
      table_ = shared;
      shared += 2 * pairs;
    }
    exchange_ = shared + each * Shape::kExchange;
    lane_ = static_cast<int>(threadIdx.x) % kLanes;
    const unsigned tile =
        blockIdx.x * (blockDim.x / Shape::kTileThreads) + threadIdx.x / Shape::kTileThreads;
    const unsigned q = static_cast<unsigned>(each) % kSmallTile;
    number_ = tile * a.width + q;
    mine_ = tile < a.tiles && q < a.width && number_ < a.count;
    if (mine_) {
      sequence_ = a.sequences[number_];
      first_ = a.tile_first[tile] + q;
    }
    // the first of a warp's sequences is its longest
    warp_end_ = min(__shfl_sync(kAllLanes, sequence_.length, 0), a.end);
    const std::uint32_t end = min(sequence_.length, a.end);
    span_ = end > a.begin ? end - a.begin : 0;
    scored_below_ = a.tangent_only ? 0xFFFFFFFFu : a.plain;
  }

  [[nodiscard]] __device__ bool leads() const { return mine_ && lane_ == 0; }
  [[nodiscard]] __device__ std::uint32_t length() const { return sequence_.length; }
  [[nodiscard]] __device__ std::uint32_t place() const {
    return sequence_.place & ~SmallSequence::kWide;
  }
  [[nodiscard]] __device__ std::uint32_t number() const { return number_; }
  [[nodiscard]] __device__ double loss_weight() const { return sequence_.weight; }
  [[nodiscard]] __device__ std::uint32_t warp_end() const { return warp_end_; }
  [[nodiscard]] __device__ bool active(std::uint32_t t) const { return t < sequence_.length; }
  [[nodiscard]] __device__ std::size_t item(std::uint32_t t) const {
    return first_ + std::size_t{t - a.begin} * a.width;
  }
  [[nodiscard]] __device__ bool rescales(std::uint32_t t) const {
    return t > 0 && (t & a.pace_mask) == 0;
  }
  [[nodiscard]] __device__ double* power(std::uint32_t t) const {
    return a.powers + std::size_t{(t - a.begin) / (a.pace_mask + 1)} * a.count + number_;
  }

  /// After the matrices and what lanes exchange: what else the block has of shared memory.
  [[nodiscard]] __device__ double* rest_of_shared() const {
    const int each = static_cast<int>(threadIdx.x) / kLanes;
    return exchange_ + (static_cast<int>(blockDim.x) / kLanes - each) * Shape::kExchange;
  }

  /// Operators of the steps from t on, of one direction; of others operator 0, which does no harm.
  template <int kStep, int kCount>
  __device__ void fetch(std::int64_t t, std::uint32_t (&ops)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const std::uint32_t at = offset(t) + static_cast<std::uint32_t>(kStep * k);
      ops[k] = at < span_ ? a.steps[first_ + std::size_t{at} * a.width] : 0;
    }
  }

  /// This lane's row of the states before those steps, of a shape with one row; zeros of others.
  template <int kCount>
  __device__ void fetch_back(std::int64_t t, double (&x)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const std::uint32_t at = offset(t) - static_cast<std::uint32_t>(k);
      x[k] = at < span_ ? a.states[(first_ + std::size_t{at} * a.width) * kSize + lane_] : 0.0;
    }
  }

  [[nodiscard]] __device__ bool scored(std::uint32_t t, std::uint32_t op) const {
    return (t >= a.burn_in) & (op < scored_below_);
  }
  /// The same for a step that may be of the segment before.
  [[nodiscard]] __device__ bool scored(std::uint32_t t) const {
    if (!mine_ || t >= sequence_.length || t < a.burn_in) return false;
    if (a.tangent_only) return true;
    if ((sequence_.place & SmallSequence::kWide) != 0)
      return reinterpret_cast<const std::uint16_t*>(sequence_.symbols)[t] != 0xFFFF;
    return reinterpret_cast<const std::uint8_t*>(sequence_.symbols)[t] != 0xFF;
  }

  __device__ void load(const double* from, double (&x)[kRows]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) x[r] = from[lane_ + kLanes * r];
  }
  __device__ void store(const double (&x)[kRows], double* to) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) to[lane_ + kLanes * r] = x[r];
  }
  __device__ void add_to_traced(double value, double (&z)[kRows]) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (static_cast<unsigned>(lane_ + kLanes * r) < a.traced) z[r] += value;
  }

  /// The same in all lanes of a sequence; all of the warp must call it.
  [[nodiscard]] __device__ double weight(const double (&x)[kRows]) const {
    double sum = 0.0;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (static_cast<unsigned>(lane_ + kLanes * r) < a.traced) sum += x[r];
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    return sum;
  }

  /// x ← the matrix of op times x, unless the sequence has ended; all of the warp must call it.
  /// `parity` alternates, so that a row is not written before all have read what it held.
  __device__ void multiply(std::uint32_t op, bool active, int parity, double (&x)[kRows]) const {
    const double* matrix = table_ + std::size_t{op} * Shape::kPitch + lane_;
    double even[kRows] = {}, odd[kRows] = {};
    double* row = exchange_ + parity * Shape::kExchangeRow;
    store(x, row);
    __syncwarp();
    const auto* all = reinterpret_cast<const double2*>(row);
#pragma unroll Shape::kUnroll
    for (int j = 0; j < kSize / 2; ++j) {
      const double2 pair = all[j];
      const double* column = matrix + 2 * j * kSize;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        even[r] = fma(column[kLanes * r], pair.x, even[r]);
        odd[r] = fma(column[kSize + kLanes * r], pair.y, odd[r]);
      }
    }
    if (!active) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) x[r] = even[r] + odd[r];
  }

  const SmallWalk& a;

 private:
  /// In the segment; of steps before it a number past its end.
  [[nodiscard]] __device__ std::uint32_t offset(std::int64_t t) const {
    return static_cast<std::uint32_t>(t) - a.begin;
  }

  const double* table_;
  double* exchange_;
  SmallSequence sequence_{0, 0.0, 0, 0};
  std::uint64_t first_ = 0;
  std::uint32_t number_, warp_end_;
  std::uint32_t span_;          // steps of the segment
  std::uint32_t scored_below_;  // operators whose steps are scored
  int lane_;
  bool mine_;
};

}  // namespace hqmm::detail
