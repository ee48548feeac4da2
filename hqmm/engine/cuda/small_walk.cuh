// The kernels that walk.
//
//   forward    x ← R[y_t] x          backward   z ← R[y_t]ᵀ z + λ c_t ∂log w/∂x(x_t)
//
// Marks, rescaling and range are those of engine/chain/program.hpp and chain.hpp.
#pragma once

#include "hqmm/engine/cuda/small_walker.cuh"

namespace hqmm::detail {

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

/// A sequence on its way forward.
template <typename Shape, bool kShared>
class ForwardWalk {
 public:
  __device__ explicit ForwardWalk(const SmallWalk& walk)
      : a(walk), walker_(walk, walk.forward), account_(walk, walk.pace_mask == 0) {}

  __device__ void run() {
    constexpr int kAhead = Shape::kAhead;
    const std::uint32_t end = walker_.warp_end();
    if (a.begin >= end) return;
    load();
    std::uint32_t ops[kAhead], next[kAhead];
    walker_.template fetch<1>(a.begin, next);
    for (std::uint32_t t0 = a.begin; t0 < end; t0 += kAhead) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) ops[k] = next[k];
      walker_.template fetch<1>(std::int64_t{t0} + kAhead, next);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (t0 + k >= end) break;
        step(t0 + k, ops[k]);
      }
    }
    if (a.first_sweep) finish();
  }

 private:
  __device__ void load() {
    before_ = a.begin > 0 && walker_.scored(a.begin - 1);
    if (!walker_.active(a.begin)) return;
    if (a.begin == 0) {
      walker_.load(a.initial, x_);
      return;
    }
    walker_.load(a.carried + std::size_t{walker_.number()} * Shape::kSize, x_);
    account_.sum = a.outcomes[walker_.place()];
    account_.more = a.details[walker_.number()];
  }

  __device__ void step(std::uint32_t t, std::uint32_t op) {
    const bool active = walker_.active(t);
    const bool now = active && walker_.scored(t, op);
    const bool marked = active && t > 0 && now != before_;
    if (walker_.rescales(t) || watches() || __any_sync(kAllLanes, marked)) look(t, active, marked);
    if (active) {
      before_ = now;
      account_.sum.scored += t >= a.burn_in && op < a.plain ? 1 : 0;
      if (a.keep) walker_.store(x_, a.states + walker_.item(t) * Shape::kSize);
    }
    walker_.multiply(op, active, static_cast<int>(t & 1), x_);
  }

  /// At the state before step t: rescaling, what is to be watched, and a mark.
  __device__ void look(std::uint32_t t, bool active, bool marked) {
    double weight = walker_.weight(x_);
    if (!active) return;
    if (watches() && t > 0) account_.watch(weight);
    if (walker_.rescales(t)) weight *= rescale(t, weight);
    if (watches()) account_.more.weight = weight;
    if (marked) account_.add_mark(before_ ? 1.0 : -1.0, weight);
  }

  __device__ double rescale(std::uint32_t t, double weight) {
    double scale = 1.0;
    if (account_.look(weight, t)) {
      const int exponent = exponent_of(weight);
      scale = power_of_two(-exponent);
      account_.more.exponent += exponent;
    }
#pragma unroll
    for (int r = 0; r < Shape::kRows; ++r) x_[r] *= scale;
    if (a.keep && walker_.leads()) *walker_.power(t) = scale;
    return scale;
  }

  /// After the segment: the end of the sequence, or the state from which the next one goes on.
  __device__ void finish() {
    const double weight = walker_.weight(x_);
    if (!walker_.active(a.begin)) return;
    const std::uint32_t length = walker_.length();
    if (length > a.end) {
      walker_.store(x_, a.carried_on + std::size_t{walker_.number()} * Shape::kSize);
    } else {
      account_.look(weight, length);
      if (watches()) account_.watch(weight);
      if (before_) account_.add_mark(1.0, weight);
      // a weight that stays 1 would leave rounding where nothing is to be said
      if (a.tangent_only && account_.sum.scored == 0) account_.sum.log_likelihood = 0.0;
      account_.more.weight = weight;
    }
    if (!walker_.leads()) return;
    a.outcomes[walker_.place()] = account_.sum;
    a.details[walker_.number()] = account_.more;
    if (account_.sum.failed != 0) atomicOr(&a.header->failed, 1u);
  }

  [[nodiscard]] __device__ bool watches() const { return a.suspect_below > 0.0; }

  const SmallWalk& a;
  Walker<Shape, kShared> walker_;
  Account account_;
  double x_[Shape::kRows] = {};
  bool before_ = false;  // whether the step before was scored
};

/// And on its way back.
template <typename Shape, bool kShared>
class BackwardWalk {
 public:
  __device__ explicit BackwardWalk(const SmallWalk& walk) : a(walk), walker_(walk, walk.backward) {}

  __device__ void run() {
    constexpr int kAhead = Shape::kAhead;
    if (a.begin >= walker_.warp_end()) return;
    load();
    // one more than a block: the operator of the step before says what is marked
    std::uint32_t ops[kAhead + 1], next[kAhead];
    std::int64_t t0 = std::int64_t{walker_.warp_end()} - 1;
    walker_.template fetch<-1>(t0, next);
    for (; t0 >= a.begin; t0 -= kAhead) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) ops[k] = next[k];
      walker_.template fetch<-1>(t0 - kAhead, next);
      ops[kAhead] = next[0];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (t0 - k < a.begin) break;
        step(static_cast<std::uint32_t>(t0 - k), ops[k], ops[k + 1]);
      }
    }
    if (walker_.active(a.begin)) walker_.store(z_, carried());
  }

 private:
  __device__ void load() {
    if (walker_.active(a.begin)) {
      if (walker_.length() > a.end) walker_.load(carried(), z_);
      last_weight_ = a.details[walker_.number()].weight;
      has_marks_ = !a.tangent_only || a.outcomes[walker_.place()].scored != 0;
    }
    rescaling_ = (walker_.warp_end() - 1) & ~a.pace_mask;
    power_ = power_at(rescaling_);
  }

  /// From the adjoint after step t to the one before it.
  __device__ void step(std::uint32_t t, std::uint32_t op, std::uint32_t op_before) {
    const bool active = walker_.active(t);
    const bool now = active && walker_.scored(t, op);
    if (now && has_marks_ && t + 1 == walker_.length())
      walker_.add_to_traced(walker_.loss_weight() / last_weight_, z_);
    if (active) walker_.store(z_, a.adjoints + walker_.item(t) * Shape::kSize);
    walker_.multiply(op, active, static_cast<int>(t & 1), z_);
    if (t == 0) return;
    const bool before =
        active && (t > a.begin ? walker_.scored(t - 1, op_before) : walker_.scored(t - 1));
    add_mark(t, active && has_marks_, before, now);
    if (t == rescaling_) undo_rescaling();
  }

  __device__ void add_mark(std::uint32_t t, bool may_be, bool before, bool now) {
    const bool stops = may_be && !a.through_burn_in && t == a.burn_in;
    const bool marked = may_be && !stops && before != now;
    if (__any_sync(kAllLanes, marked)) {
      double x[Shape::kRows] = {};
      if (marked) walker_.load(a.states + walker_.item(t) * Shape::kSize, x);
      const double weight = walker_.weight(x);
      const double slope = before ? walker_.loss_weight() : -walker_.loss_weight();
      if (marked) walker_.add_to_traced(slope / weight, z_);
    }
    if (!stops) return;
#pragma unroll
    for (int r = 0; r < Shape::kRows; ++r) z_[r] = 0.0;  // of anything
  }

  __device__ void undo_rescaling() {
    multiply_by(power_);
    rescaling_ = rescaling_ > a.pace_mask ? rescaling_ - (a.pace_mask + 1) : 0;
    power_ = power_at(rescaling_);
  }
  [[nodiscard]] __device__ double power_at(std::uint32_t t) const {
    return t >= a.begin && walker_.rescales(t) && walker_.active(t) ? *walker_.power(t) : 1.0;
  }
  __device__ void multiply_by(double factor) {
#pragma unroll
    for (int r = 0; r < Shape::kRows; ++r) z_[r] *= factor;
  }
  [[nodiscard]] __device__ double* carried() const {
    return a.adjoint_carried + std::size_t{walker_.number()} * Shape::kSize;
  }

  const SmallWalk& a;
  Walker<Shape, kShared> walker_;
  double z_[Shape::kRows] = {};
  double last_weight_ = 1.0;
  bool has_marks_ = false;
  // the rescaling that is to be undone next; its power is fetched early
  std::uint32_t rescaling_ = 0;
  double power_ = 1.0;
};

template <typename Shape, bool kShared>
__global__ void __launch_bounds__(Shape::kMostThreads)
    forward_kernel(const __grid_constant__ SmallWalk walk) {
  ForwardWalk<Shape, kShared>(walk).run();
}

template <typename Shape, bool kShared>
__global__ void __launch_bounds__(Shape::kMostThreads)
    backward_kernel(const __grid_constant__ SmallWalk walk) {
  BackwardWalk<Shape, kShared>(walk).run();
}

}  // namespace hqmm::detail
