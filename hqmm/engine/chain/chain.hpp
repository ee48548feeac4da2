// ChainPass: forward and backward over a few sequences at once, in any linear form of a model.
//
//   forward    x_{t+1} = R[y_t] x_t                          from the initial state
//   backward   z_t = R[y_t]ᵀ z_{t+1} + λ c_t ∂log w/∂x(x_t)  marks, and λ the sequence's weight:
//                                                            see program.hpp
//   gradient   ∂ℓ/∂R[y] = Σ_{t: y_t = y} z_{t+1} x_tᵀ
//
// States are not normalised: they drift and are brought back by exact powers of two every few
// steps, and the backward pass undoes the same powers. A weight that leaves the safe range in
// between stops the pass; it is then repeated with a rescaling at every step.
//
// At each step, sequences that see the same operator are multiplied together; over a block of steps
// all uses of an operator lie one after another in memory, so that its gradient is one long
// product. Memory: the states of one segment of steps (at most kSegmentBytes), the adjoints of one
// block, and one state per sequence and segment, from which earlier segments are recomputed.
//
// A Form (form.hpp) says how a state is stored and moved.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/interruption.hpp"
#include "hqmm/engine/chain/chain_result.hpp"
#include "hqmm/engine/chain/chain_states.hpp"
#include "hqmm/engine/chain/not_finite.hpp"

namespace hqmm::detail {

template <Form F>
class ChainPass : ChainStates {
 public:
  /// The sequences [first, last) of a program. `out` is filled anew, but for other sequences'
  /// likelihoods.
  ChainPass(const F& form, const Program& program, std::size_t first, std::size_t last,
            const ChainOptions& options, ChainScratch& scratch, ChainResult& out)
      : ChainStates(program, first, last, static_cast<std::size_t>(form.state_size()), options,
                    scratch),
        form_(form),
        out_(out) {}

  /// False when a weight left the safe range; the result is then worthless. In the careful mode
  /// throws NotFiniteError instead.
  [[nodiscard]] bool run() {
    prepare();
    for (std::size_t segment = 0; segment < segments_; ++segment) {
      save_checkpoint(segment);
      if (!forward(segment, true)) return false;
    }
    if (!finish_forward()) return false;
    if (!options_.backward) return true;
    for (std::size_t segment = segments_; segment-- > 0;) {
      if (segment + 1 < segments_) {
        load_checkpoint(segment);
        if (!forward(segment, false)) return false;
      }
      backward();
    }
    for (std::size_t b = 0; b < count_; ++b) {
      if (length(b) == 0) continue;
      const double* z = carried_adjoint(b);
      for (std::size_t i = 0; i < size_; ++i) out_.initial[i] += z[i];
    }
    return true;
  }

 private:
  void prepare() {
    cut_steps();
    reset_scratch();
    for (std::size_t b = 0; b < count_; ++b) {
      if (options_.starts != nullptr) {
        std::copy_n(options_.starts + b * size_, size_, carried(b));
      } else {
        form_.copy_initial(carried(b));
      }
    }
    if (options_.backward) {
      out_.gradients.reset(form_.gradient_count(), form_.gradient_size());
      out_.initial.assign(size_, 0.0);
    }
    for (std::size_t b = first_; b < first_ + count_; ++b)
      out_.log_likelihoods[b] = out_.log_totals[b] = 0.0;
  }

  // ---- forward ----------------------------------------------------------------------------------

  [[nodiscard]] bool forward(std::size_t segment, bool count_marks) {
    begin_ = segment * segment_steps_;
    end_ = std::min(longest_, begin_ + segment_steps_);
    if constexpr (F::kShared) {
      scratch_.layout.write(program_, first_, count_, begin_, end_, block_steps_, form_.keys());
    } else {
      scratch_.layout.write(program_, first_, count_, begin_, end_, block_steps_);
    }
    scratch_.powers.assign(((end_ - begin_) / options_.rescale_every + 1) * count_, 1.0);
    for (std::size_t b = 0; b < count_; ++b) {
      if (begin_ < length(b)) std::copy_n(carried(b), size_, state(begin_, b));
    }
    std::size_t next_rescaling = begin_ > 0 ? begin_ : options_.rescale_every;
    for (std::size_t t = begin_; t < end_; ++t) {
      check_interruption(t);
      if (t == next_rescaling) {
        if (!rescale(t)) return false;
        next_rescaling += options_.rescale_every;
      }
      if (options_.suspect_below > 0.0) watch(t);
      if (count_marks && has_event(t)) add_marks(t);
      if (options_.normalise && !add_totals(t, count_marks)) return false;
      const bool moves_on = t + 1 < end_ && !has_event(t + 1);
      for (const Group& group : scratch_.layout.groups(t)) {
        double** next = scratch_.next.data();
        for (std::size_t i = 0; i < group.count; ++i) {
          const std::size_t b = scratch_.layout.sequence(group.first + i);
          next[i] = moves_on ? state(t + 1, b) : state_after(t, b);
        }
        forward_group(group, t);
      }
    }
    return true;
  }

  void forward_group(const Group& group, std::size_t t) {
    const double* states = scratch_.states.data() + group.first * size_;
    if constexpr (F::kShared) {
      note_operators(group, t);
      form_.forward(scratch_.ops.data(), states, group.count, scratch_.next.data(), scratch_.form);
    } else {
      form_.forward(group.op, states, group.count, scratch_.next.data(), scratch_.form);
    }
  }

  void note_operators(const Group& group, std::size_t t) {
    for (std::size_t i = 0; i < group.count; ++i) {
      const std::size_t b = scratch_.layout.sequence(group.first + i);
      scratch_.ops[i] = program_.steps_of(first_ + b)[t];
    }
  }

  [[nodiscard]] bool rescale(std::size_t t) {
    for (std::size_t b = 0; b < count_; ++b) {
      if (t >= length(b)) continue;
      double* x = state(t, b);
      const double weight = form_.weight(x);
      if (!usable(weight, t, b)) return false;
      // the state shrinks by 2^-e: by half of that in each factor of a squared norm
      const int exponent = exponent_of(weight) / F::kDegree;
      const double scale = two_to(-exponent);
      power(t, b) = scale;
      scratch_.exponents[b] += exponent * F::kDegree;
      for (std::size_t i = 0; i < size_; ++i) x[i] *= scale;
    }
    return true;
  }

  /// Whether the pass can go on from the weight after step t − 1 of a sequence.
  [[nodiscard]] bool usable(double weight, std::size_t t, std::size_t b) {
    if (options_.rescale_every > 1) return weight > kSmallestWeight && weight < kLargestWeight;
    // what is below the normal numbers cannot be divided by
    if (!(weight >= std::numeric_limits<double>::min()) || !std::isfinite(weight))
      throw NotFiniteError({first_ + b, t - 1});
    if (weight < out_.least.weight) out_.least = {weight, first_ + b, t - 1};
    return true;
  }

  /// The weight before step t against the one before step t − 1.
  void watch(std::size_t t) {
    for (std::size_t b = 0; b < count_; ++b) {
      if (t < length(b)) watch_weight(form_.weight(state(t, b)), t, b);
    }
  }
  void watch_weight(double weight, std::size_t t, std::size_t b) {
    const double before = scratch_.weights[b];
    const bool scaled = t % options_.rescale_every == 0 && t > 0 && t < length(b);
    // power() is of the degree of the state, the weight of another
    double undone = weight;
    if (scaled) {
      for (int k = 0; k < F::kDegree; ++k) undone /= power(t, b);
    }
    if (!(undone > options_.suspect_below * before)) out_.suspects[first_ + b] = 1;
    scratch_.weights[b] = weight;
  }

  void add_marks(std::size_t t) {
    if (t == 0) return;
    for (std::size_t b = 0; b < count_; ++b) {
      if (t >= length(b)) continue;
      const Mark* mark = mark_at(t, b);
      if (mark != nullptr && mark->coefficient != 0.0) {
        out_.log_likelihoods[first_ + b] +=
            mark->coefficient * log_weight(form_.weight(state(t, b)), b);
      }
    }
  }

  /// The logarithms of Σ_y tr 𝒦_y(ρ) before the symbols that count. Operators that are not trace
  /// preserving can shrink a state and let it grow back, so the range is looked at here as well.
  [[nodiscard]] bool add_totals(std::size_t t, bool count_them) {
    for (std::size_t b = 0; b < count_; ++b) {
      if (t >= length(b)) continue;
      const double* x = state(t, b);
      const double weight = form_.weight(x);
      // in the careful mode rescale() has looked
      if (options_.rescale_every > 1 && !usable(weight, t, b)) return false;
      if (!count_them) continue;
      const std::uint32_t op = program_.steps_of(first_ + b)[t];
      const bool counted = counts(t, b);
      if (!counted && op < program_.base_operators) continue;
      const double ratio = form_.total(op, x, scratch_.form) / weight;
      // within a word a state may have left the range
      if (options_.rescale_every > 1 && !(ratio > kSmallestWeight && ratio < kLargestWeight))
        return false;
      if (!counted) continue;
      out_.log_totals[first_ + b] += std::log(ratio);
    }
    return true;
  }

  [[nodiscard]] bool finish_forward() {
    for (std::size_t b = 0; b < count_; ++b) {
      if (length(b) == 0) continue;
      const double weight = form_.weight(last_state(b));
      if (!usable(weight, length(b), b)) return false;
      if (options_.suspect_below > 0.0) watch_weight(weight, length(b), b);
      if (const Mark* mark = mark_at(length(b), b))
        out_.log_likelihoods[first_ + b] += mark->coefficient * log_weight(weight, b);
    }
    return true;
  }

  // ---- backward ---------------------------------------------------------------------------------

  void backward() {
    for (std::size_t block = scratch_.layout.blocks(); block-- > 0;) {
      const std::size_t from = begin_ + block * block_steps_;
      const std::size_t to = std::min(end_, from + block_steps_);
      block_base_ = scratch_.layout.block_first(block);
      for (std::size_t t = to; t-- > from;) {
        if (t + 1 == to || has_event(t + 1)) start_adjoints(t, t + 1 == to);
        for (const Group& group : scratch_.layout.groups(t)) {
          for (std::size_t i = 0; i < group.count; ++i) {
            const std::size_t b = scratch_.layout.sequence(group.first + i);
            scratch_.next[i] = t > from ? adjoint(t - 1, b) : carried_adjoint(b);
          }
          backward_group(group, t);
        }
        if (t > 0 && (has_event(t) || t % options_.rescale_every == 0))
          adjust_adjoints(t, t > from);
      }
      if constexpr (F::kDeferred) {
        for (const Group& run : scratch_.layout.runs(block)) {
          form_.accumulate(run.op, scratch_.adjoints.data() + (run.first - block_base_) * size_,
                           scratch_.states.data() + run.first * size_, run.count, out_.gradients);
        }
      }
    }
  }

  void backward_group(const Group& group, std::size_t t) {
    double* adjoints = scratch_.adjoints.data() + (group.first - block_base_) * size_;
    const double* states = scratch_.states.data() + group.first * size_;
    if constexpr (F::kShared) {
      note_operators(group, t);
      for (std::size_t i = 0; i < group.count; ++i) {
        const std::size_t b = scratch_.layout.sequence(group.first + i);
        scratch_.images[i] = state_after(t, b);
        const bool scaled =
            t + 1 < length(b) && t + 1 < end_ && (t + 1) % options_.rescale_every == 0;
        scratch_.scales[i] = scaled ? power(t + 1, b) : 1.0;
      }
      form_.backward(SharedStep{.ops = scratch_.ops.data(),
                                .adjoints = adjoints,
                                .states = states,
                                .images = scratch_.images.data(),
                                .scales = scratch_.scales.data(),
                                .count = group.count},
                     scratch_.next.data(), out_.gradients, scratch_.form);
    } else {
      form_.backward(group.op, adjoints, states, group.count, scratch_.next.data(), out_.gradients,
                     scratch_.form);
    }
  }

  /// Sequences that end with step t start here, others cross over from the next block.
  void start_adjoints(std::size_t t, bool from_carry) {
    for (std::size_t b = 0; b < count_; ++b) {
      if (t + 1 == length(b)) {
        double* z = adjoint(t, b);
        if (options_.ends != nullptr) {
          scale_end(options_.ends + b * size_, b, z);
          continue;
        }
        std::fill_n(z, size_, 0.0);
        if (const Mark* mark = mark_at(t + 1, b))
          form_.add_slope(last_state(b), slope(*mark, b), z);
      } else if (from_carry && t + 1 < length(b)) {
        std::copy_n(carried_adjoint(b), size_, adjoint(t, b));
      }
    }
  }

  void scale_end(const double* end, std::size_t b, double* z) {
    const double* x = last_state(b);
    double product = 0.0;
    for (std::size_t i = 0; i < size_; ++i)
      if (end[i] != 0.0) product += end[i] * x[i];  // what pads x can be anything
    const double factor = program_.weights[first_ + b] / product;
    for (std::size_t i = 0; i < size_; ++i) z[i] = factor * end[i];
  }

  /// The adjoint before step t: its mark, and the power of two the state was scaled by there.
  void adjust_adjoints(std::size_t t, bool in_block) {
    const bool scaled = t % options_.rescale_every == 0;
    for (std::size_t b = 0; b < count_; ++b) {
      if (t >= length(b)) continue;
      const Mark* mark = mark_at(t, b);
      if (mark == nullptr && !scaled) continue;
      double* z = in_block ? adjoint(t - 1, b) : carried_adjoint(b);
      if (mark != nullptr && mark->stops_gradient) {
        std::fill_n(z, size_, 0.0);
      } else if (mark != nullptr) {
        form_.add_slope(state(t, b), slope(*mark, b), z);
      }
      if (!scaled) continue;
      const double scale = power(t, b);
      for (std::size_t i = 0; i < size_; ++i) z[i] *= scale;
    }
  }

  const F& form_;
  ChainResult& out_;
};

}  // namespace hqmm::detail
