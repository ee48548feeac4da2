// The kernels that walk.
//
//   forward    x ← R[y_t] x          backward   z ← R[y_t]ᵀ z + λ c_t ∂log w/∂x(x_t)
//
// Marks, rescaling and range are those of engine/chain/program.hpp and chain.hpp.
#pragma once

#include <type_traits>

#include "hqmm/engine/cuda/small_sums.cuh"
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
      : a(walk),
        walker_(walk, walk.forward),
        account_(walk, walk.pace_mask == 0),
        watches_(walk.suspect_below > 0.0) {}

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
      const unsigned marks = find_marks(t0, ops);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (t0 + k >= end) break;
        step(t0 + k, ops[k], (marks >> k & 1) != 0);
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

  /// A bit for each of these steps before which some sequence of the warp has a mark.
  __device__ unsigned find_marks(std::uint32_t t0,
                                 const std::uint32_t (&ops)[Shape::kAhead]) const {
    unsigned out = 0;
    bool before = before_;
#pragma unroll
    for (int k = 0; k < Shape::kAhead; ++k) {
      const std::uint32_t t = t0 + k;
      const bool now = walker_.scored(t, ops[k]);
      if (walker_.active(t) & (t > 0) & (now != before)) out |= 1u << k;
      before = now;
    }
    return __reduce_or_sync(kAllLanes, out);
  }

  __device__ void step(std::uint32_t t, std::uint32_t op, bool any_marked) {
    const bool active = walker_.active(t);
    const bool now = walker_.scored(t, op);
    if (walker_.rescales(t) | watches_ | any_marked)
      look(t, active, active & (t > 0) & (now != before_));
    if (active) {
      before_ = now;
      account_.sum.scored += (t >= a.burn_in) & (op < a.plain) ? 1 : 0;
      if (a.keep) walker_.store(x_, a.states + walker_.item(t) * Shape::kSize);
    }
    walker_.multiply(op, active, static_cast<int>(t & 1), x_);
  }

  /// At the state before step t: rescaling, what is to be watched, and a mark.
  __device__ void look(std::uint32_t t, bool active, bool marked) {
    double weight = walker_.weight(x_);
    if (!active) return;
    if (watches_ && t > 0) account_.watch(weight);
    if (walker_.rescales(t)) weight *= rescale(t, weight);
    if (watches_) account_.more.weight = weight;
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
      if (watches_) account_.watch(weight);
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

  const SmallWalk& a;
  Walker<Shape, kShared> walker_;
  Account account_;
  double x_[Shape::kRows] = {};
  bool before_ = false;  // whether the step before was scored
  bool watches_;
};

/// And on its way back. kSums: the products with the states are added up at once; else adjoints are
/// kept for them.
template <typename Shape, bool kShared, bool kSums>
class BackwardWalk {
 public:
  __device__ explicit BackwardWalk(const SmallWalk& walk)
      : a(walk), walker_(walk, walk.backward), sums_(walk, walker_.rest_of_shared()) {}

  __device__ void run() {
    if (a.begin < walker_.warp_end()) take_steps();
    sums_.finish();
  }

 private:
  static constexpr int kAhead = Shape::kAhead;

  __device__ void take_steps() {
    load();
    // one more than a block: the operator of the step before says what is marked
    std::uint32_t ops[kAhead + 1], next[kAhead];
    double states[kAhead], next_states[kAhead];
    std::int64_t t0 = std::int64_t{walker_.warp_end()} - 1;
    walker_.template fetch<-1>(t0, next);
    if constexpr (kSums) walker_.fetch_back(t0, next_states);
    for (; t0 >= a.begin; t0 -= kAhead) {
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        ops[k] = next[k];
        if constexpr (kSums) states[k] = next_states[k];
      }
      walker_.template fetch<-1>(t0 - kAhead, next);
      if constexpr (kSums) walker_.fetch_back(t0 - kAhead, next_states);
      ops[kAhead] = next[0];
      const unsigned own = find_marks(t0, ops);
      const unsigned marks = __reduce_or_sync(kAllLanes, own);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (t0 - k < a.begin) break;
        if constexpr (kSums) x_ = states[k];
        const auto t = static_cast<std::uint32_t>(t0 - k);
        step(t, ops[k]);
        if (t == 0) break;
        if ((marks >> k & 1) != 0) add_mark(t, (own >> k & 1) != 0, walker_.scored(t, ops[k]));
        if (t == stops_at_ && walker_.active(t)) clear();
        if (t == rescaling_) undo_rescaling();
      }
    }
    if (walker_.active(a.begin)) walker_.store(z_, carried());
  }

  __device__ void load() {
    if (walker_.active(a.begin)) {
      if (walker_.length() > a.end) walker_.load(carried(), z_);
      last_weight_ = a.details[walker_.number()].weight;
      has_marks_ = !a.tangent_only || a.outcomes[walker_.place()].scored != 0;
    }
    stops_at_ = a.through_burn_in || !has_marks_ ? 0 : a.burn_in;
    rescaling_ = (walker_.warp_end() - 1) & ~a.pace_mask;
    power_ = power_at(rescaling_);
  }

  /// A bit for each of the steps from t0 down before which this lane's sequence has a mark.
  __device__ unsigned find_marks(std::int64_t t0, const std::uint32_t (&ops)[kAhead + 1]) const {
    unsigned out = 0;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const auto t = static_cast<std::uint32_t>(t0 - k);
      const bool before = t == a.begin ? walker_.scored(t - 1) : walker_.scored(t - 1, ops[k + 1]);
      const bool may_be = (t0 - k > 0) & (t0 - k >= a.begin) & walker_.active(t) & (t != stops_at_);
      if (has_marks_ & may_be & (before != walker_.scored(t, ops[k]))) out |= 1u << k;
    }
    return out;
  }

  /// From the adjoint after step t to the one before it.
  __device__ void step(std::uint32_t t, std::uint32_t op) {
    const bool active = walker_.active(t);
    if (has_marks_ & (t + 1 == walker_.length()) & walker_.scored(t, op))
      walker_.add_to_traced(walker_.loss_weight() / last_weight_, z_);
    if constexpr (kSums) {
      sums_.add(op, active, z_[0], x_);
    } else if (active) {
      walker_.store(z_, a.adjoints + walker_.item(t) * Shape::kSize);
    }
    walker_.multiply(op, active, static_cast<int>(t & 1), z_);
  }

  /// Of the step t, which is scored and the one before is not, or the other way round.
  __device__ void add_mark(std::uint32_t t, bool marked, bool scored) {
    double x[Shape::kRows] = {};
    if (marked) walker_.load(a.states + walker_.item(t) * Shape::kSize, x);
    const double weight = walker_.weight(x);
    const double slope = scored ? -walker_.loss_weight() : walker_.loss_weight();
    if (marked) walker_.add_to_traced(slope / weight, z_);
  }

  /// Nothing before this step is a matter of the loss.
  __device__ void clear() {
#pragma unroll
    for (int r = 0; r < Shape::kRows; ++r) z_[r] = 0.0;
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
  std::conditional_t<kSums, Sums<Shape>, NoSums> sums_;
  double x_ = 0.0;  // of kSums: this lane's row of the state
  double z_[Shape::kRows] = {};
  double last_weight_ = 1.0;
  bool has_marks_ = false;
  std::uint32_t stops_at_ = 0;  // there the adjoint ends; 0: nowhere
  // the rescaling that is to be undone next; its power is fetched early
  std::uint32_t rescaling_ = 0;
  double power_ = 1.0;
};

template <typename Shape, bool kShared>
__global__ void __launch_bounds__(Shape::kMostThreads)
    forward_kernel(const __grid_constant__ SmallWalk walk) {
  ForwardWalk<Shape, kShared>(walk).run();
}

template <typename Shape, bool kShared, bool kSums>
__global__ void __launch_bounds__(Shape::kMostThreads)
    backward_kernel(const __grid_constant__ SmallWalk walk) {
  BackwardWalk<Shape, kShared, kSums>(walk).run();
}

}  // namespace hqmm::detail
