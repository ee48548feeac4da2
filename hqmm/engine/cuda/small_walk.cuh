// The kernels that walk: kLanes lanes of a warp take a sequence along, each of them kRows rows of
// its state, a tile of sequences in 32 · kLanes threads.
//
//   forward    x ← R[y_t] x          backward   z ← R[y_t]ᵀ z + λ c_t ∂log w/∂x(x_t)
//
// Marks, rescaling and range are those of engine/chain/program.hpp and chain.hpp. Lanes of a warp
// are always at the same step; sequences that have ended stay where they are.
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
  static constexpr int kPitch = kSize * kSize + (kLanes == 1 ? 2 : kLanes < 16 ? kLanes : 0);
  static constexpr int kTileThreads = 32 * kLanes;
  static constexpr int kMostThreads = kTileThreads > 256 ? kTileThreads : 256;
  static constexpr int kAhead = kLanes == 1 ? 8 : 2;  // operators are fetched so early
  static constexpr int kExchangeRow = kSize + 2;
  static constexpr int kExchange = kLanes == 1 ? 0 : 2 * kExchangeRow;  // numbers per sequence
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
  }

  [[nodiscard]] __device__ bool mine() const { return mine_; }
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

  /// Operators of the steps from t on, of one direction; of others operator 0, which does no harm.
  template <int kStep, int kCount>
  __device__ void fetch(std::int64_t t, std::uint32_t (&ops)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const std::int64_t at = t + kStep * k;
      const bool there = at >= a.begin && at < warp_end_ && at < sequence_.length;
      ops[k] = there ? a.steps[item(static_cast<std::uint32_t>(at))] : 0;
    }
  }

  [[nodiscard]] __device__ bool scored(std::uint32_t t, std::uint32_t op) const {
    return t >= a.burn_in && (a.tangent_only || op < a.plain);
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
    if constexpr (kLanes == 1) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) {
#pragma unroll
        for (int i = 0; i < kSize; i += 2) {
          const double2 pair = reinterpret_cast<const double2*>(matrix)[(j * kSize + i) / 2];
          double* sums = j % 2 == 0 ? even : odd;
          sums[i] = fma(pair.x, x[j], sums[i]);
          sums[i + 1] = fma(pair.y, x[j], sums[i + 1]);
        }
      }
    } else {
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
    }
    if (!active) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) x[r] = even[r] + odd[r];
  }

  const SmallWalk& a;

 private:
  const double* table_;
  double* exchange_;
  SmallSequence sequence_{0, 0.0, 0, 0};
  std::uint64_t first_ = 0;
  std::uint32_t number_, warp_end_;
  int lane_;
  bool mine_;
};

/// What a forward walk knows of its sequence besides the state; the same in all of its lanes.
class Account {
 public:
  __device__ Account(const SmallWalk& walk, bool careful) : a(walk), careful_(careful) {
    more.exponent = 0.0;
    more.weight = 1.0;
    more.least = __longlong_as_double(0x7FF0000000000000LL);
  }

  SmallOutcome sum{};
  SmallDetail more{};

  /// Looks at the weight of the state before step t; returns whether the walk can go on from it.
  __device__ bool look(double weight, std::uint32_t t) {
    if (!usable(weight, careful_)) {
      if (sum.failed == 0) sum.failed = t;  // 1 + the step before
      more.suspect = 1;
      return false;
    }
    if (careful_ && weight < more.least) {
      more.least = weight;
      more.least_step = t - 1;
    }
    return true;
  }
  __device__ void watch(double weight) {
    if (!(weight > a.suspect_below * more.weight)) more.suspect = 1;
  }
  __device__ void add_mark(double coefficient, double weight) {
    sum.log_likelihood += coefficient * (log(weight) + kLogTwo * more.exponent);
  }

 private:
  const SmallWalk& a;
  bool careful_;
};

template <typename Shape, bool kShared>
__global__ void __launch_bounds__(Shape::kMostThreads)
    forward_kernel(const __grid_constant__ SmallWalk a) {
  constexpr int kAhead = Shape::kAhead;
  const Walker<Shape, kShared> walker(a, a.forward);
  const std::uint32_t end = walker.warp_end();
  if (a.begin >= end) return;
  const bool watches = a.suspect_below > 0.0;
  double x[Shape::kRows] = {};
  Account account(a, a.pace_mask == 0);
  if (walker.mine()) {
    if (a.begin == 0) {
      walker.load(a.initial, x);
    } else if (walker.active(a.begin)) {
      walker.load(a.carried + std::size_t{walker.number()} * Shape::kSize, x);
      account.sum = a.outcomes[walker.place()];
      account.more = a.details[walker.number()];
    }
  }
  bool before = a.begin > 0 && walker.scored(a.begin - 1);
  std::uint32_t ops[kAhead], next[kAhead];
  walker.template fetch<1>(a.begin, next);
  for (std::uint32_t t0 = a.begin; t0 < end; t0 += kAhead) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) ops[k] = next[k];
    walker.template fetch<1>(std::int64_t{t0} + kAhead, next);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const std::uint32_t t = t0 + k;
      if (t >= end) break;
      const bool active = walker.active(t);
      const bool now = active && walker.scored(t, ops[k]);
      const bool marked = active && t > 0 && now != before;
      const bool rescales = walker.rescales(t);
      if (rescales || watches || __any_sync(kAllLanes, marked)) {
        double weight = walker.weight(x);
        const double unscaled = weight;
        if (rescales && active) {
          double scale = 1.0;
          if (account.look(weight, t)) {
            const int exponent = exponent_of(weight);
            scale = power_of_two(-exponent);
            account.more.exponent += exponent;
          }
          weight *= scale;
#pragma unroll
          for (int r = 0; r < Shape::kRows; ++r) x[r] *= scale;
          if (a.keep && walker.leads()) *walker.power(t) = scale;
        }
        if (watches && active && t > 0) account.watch(unscaled);
        if (watches && active) account.more.weight = weight;
        if (marked) account.add_mark(before ? 1.0 : -1.0, weight);
      }
      if (active) {
        before = now;
        account.sum.scored += t >= a.burn_in && ops[k] < a.plain ? 1 : 0;
        if (a.keep) walker.store(x, a.states + walker.item(t) * Shape::kSize);
      }
      walker.multiply(ops[k], active, static_cast<int>(t & 1), x);
    }
  }
  if (!a.first_sweep) return;
  const double weight = walker.weight(x);
  if (!walker.mine() || !walker.active(a.begin)) return;
  const std::uint32_t length = walker.length();
  if (length > a.end) {
    walker.store(x, a.carried_on + std::size_t{walker.number()} * Shape::kSize);
  } else {
    const bool good = account.look(weight, length);
    if (watches) account.watch(weight);
    if (before) account.add_mark(1.0, weight);
    if (a.tangent_only && account.sum.scored == 0 && good) account.sum.log_likelihood = 0.0;
    account.more.weight = weight;
  }
  if (!walker.leads()) return;
  a.outcomes[walker.place()] = account.sum;
  a.details[walker.number()] = account.more;
  if (account.sum.failed != 0) atomicOr(&a.header->failed, 1u);
}

template <typename Shape, bool kShared>
__global__ void __launch_bounds__(Shape::kMostThreads)
    backward_kernel(const __grid_constant__ SmallWalk a) {
  constexpr int kAhead = Shape::kAhead;
  const Walker<Shape, kShared> walker(a, a.backward);
  const std::uint32_t end = walker.warp_end();
  if (a.begin >= end) return;
  const std::uint32_t length = walker.length();
  double z[Shape::kRows] = {};
  double last_weight = 1.0;
  bool marks = false;
  double* carried = a.adjoint_carried + std::size_t{walker.number()} * Shape::kSize;
  if (walker.mine() && walker.active(a.begin)) {
    if (length > a.end) walker.load(carried, z);
    last_weight = a.details[walker.number()].weight;
    marks = !a.tangent_only || a.outcomes[walker.place()].scored != 0;
  }
  // the power of the last rescaling before the end, and then always of the one before
  std::uint32_t rescaling = (end - 1) & ~a.pace_mask;
  const auto power_at = [&](std::uint32_t t) {
    return t >= a.begin && walker.rescales(t) && walker.active(t) ? *walker.power(t) : 1.0;
  };
  double power = power_at(rescaling);

  // `ops` holds one more than a block: the step before it says what is marked
  std::uint32_t ops[kAhead + 1], next[kAhead];
  std::int64_t t0 = std::int64_t{end} - 1;
  walker.template fetch<-1>(t0, next);
  for (; t0 >= a.begin; t0 -= kAhead) {
#pragma unroll
    for (int k = 0; k < kAhead; ++k) ops[k] = next[k];
    walker.template fetch<-1>(t0 - kAhead, next);
    ops[kAhead] = next[0];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (t0 - k < a.begin) break;
      const auto t = static_cast<std::uint32_t>(t0 - k);
      const bool active = walker.active(t);
      const bool now = active && walker.scored(t, ops[k]);
      if (t + 1 == length && marks && now)
        walker.add_to_traced(walker.loss_weight() / last_weight, z);
      if (active) walker.store(z, a.adjoints + walker.item(t) * Shape::kSize);
      walker.multiply(ops[k], active, static_cast<int>(t & 1), z);
      if (t == 0) break;
      const bool before =
          active && (t > a.begin ? walker.scored(t - 1, ops[k + 1]) : walker.scored(t - 1));
      const bool stops = active && marks && !a.through_burn_in && t == a.burn_in;
      const bool marked = active && marks && !stops && before != now;
      if (__any_sync(kAllLanes, marked)) {
        double x[Shape::kRows] = {};
        if (marked) walker.load(a.states + walker.item(t) * Shape::kSize, x);
        const double weight = walker.weight(x);
        if (marked) walker.add_to_traced((before ? 1.0 : -1.0) * walker.loss_weight() / weight, z);
      }
      if (stops) {
#pragma unroll
        for (int r = 0; r < Shape::kRows; ++r) z[r] = 0.0;
      }
      if (t == rescaling) {
#pragma unroll
        for (int r = 0; r < Shape::kRows; ++r) z[r] *= power;
        rescaling = t > a.pace_mask ? t - (a.pace_mask + 1) : 0;
        power = power_at(rescaling);
      }
    }
  }
  if (walker.mine() && walker.active(a.begin)) walker.store(z, carried);
}

}  // namespace hqmm::detail
