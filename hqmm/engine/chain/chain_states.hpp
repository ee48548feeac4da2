// ChainStates: where a pass stands. How its steps are cut into segments and blocks, and where in
// its scratch the states, adjoints and marks of a step are.
//
// The state before step t is kept for one segment of steps at a time, at most kSegmentBytes of
// them; adjoints for one block of a segment, at most kBlockBytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hqmm/engine/chain/chain_scratch.hpp"

namespace hqmm::detail {

inline constexpr std::size_t kSegmentBytes = std::size_t{32} << 20;
inline constexpr std::size_t kBlockBytes = std::size_t{512} << 10;

struct ChainOptions {
  std::size_t rescale_every = 16;  // steps; 1 is the careful mode, which names the step that fails
  bool backward = true;
  bool normalise = false;  // the model is not feasible: sum up the logarithms of its totals
  /// Forward only: note sequences with a step that takes more than this from the weight. Below it a
  /// symbol may be impossible but for rounding, and only the filter can tell.
  double suspect_below = 0.0;
  /// For sequences that are pieces of longer ones, a state and an adjoint for each, one after
  /// another: where it starts in place of the form's initial state, and what comes from beyond its
  /// end in place of a mark. An adjoint is scaled such that it and the last state have the
  /// sequence's weight as their product.
  const double* starts = nullptr;
  const double* ends = nullptr;
};

/// The sequences [first, last) of a program, in states of `size` doubles. A sequence is named by
/// its number b within them, a step by its number t within the sequence.
class ChainStates {
 protected:
  ChainStates(const Program& program, std::size_t first, std::size_t last, std::size_t size,
              const ChainOptions& options, ChainScratch& scratch)
      : program_(program),
        first_(first),
        count_(last - first),
        size_(size),
        options_(options),
        scratch_(scratch) {}

  [[nodiscard]] std::size_t length(std::size_t b) const { return program_.length(first_ + b); }

  void cut_steps() {
    longest_ = 0;
    for (std::size_t b = 0; b < count_; ++b) longest_ = std::max(longest_, length(b));
    const std::size_t step_bytes = std::max<std::size_t>(1, count_ * size_ * sizeof(double));
    const std::size_t every = options_.rescale_every;
    const auto in_whole = [every](std::size_t steps) {
      return std::max(every, steps / every * every);
    };
    block_steps_ = std::max(in_whole(kBlockBytes / step_bytes), 16 / every * every + every);
    // without a way back the states may be forgotten at once
    const std::size_t kept = options_.backward ? kSegmentBytes : kBlockBytes;
    segment_steps_ = kept / step_bytes / block_steps_ * block_steps_;
    segment_steps_ = std::max(segment_steps_, block_steps_);
    segments_ = (longest_ + segment_steps_ - 1) / segment_steps_;
  }

  void reset_scratch() {
    scratch_.states.resize(std::min(longest_, segment_steps_) * count_ * size_);
    if (options_.backward)
      scratch_.adjoints.resize(std::min(longest_, block_steps_) * count_ * size_);
    scratch_.carry.resize(count_ * size_);
    scratch_.last.resize(count_ * size_);
    scratch_.adjoint_carry.resize(count_ * size_);
    scratch_.exponents.assign(count_, 0);
    scratch_.next.resize(count_);
    scratch_.ops.resize(count_);
    scratch_.images.resize(count_);
    scratch_.scales.resize(count_);
    scratch_.weights.assign(count_, 1.0);
    note_events();
  }

  [[nodiscard]] double* carried(std::size_t b) { return scratch_.carry.data() + b * size_; }
  [[nodiscard]] double* carried_adjoint(std::size_t b) {
    return scratch_.adjoint_carry.data() + b * size_;
  }
  [[nodiscard]] double* last_state(std::size_t b) { return scratch_.last.data() + b * size_; }
  [[nodiscard]] double* state(std::size_t t, std::size_t b) {
    return scratch_.states.data() + scratch_.layout.slot(t, b) * size_;
  }

  void save_checkpoint(std::size_t segment) {
    if (segments_ == 1 || !options_.backward) return;
    scratch_.checkpoints.resize(segments_);
    scratch_.checkpoints[segment].states.assign(scratch_.carry.data(),
                                                scratch_.carry.data() + count_ * size_);
    scratch_.checkpoints[segment].exponents = scratch_.exponents;
  }
  void load_checkpoint(std::size_t segment) {
    const ChainScratch::Checkpoint& saved = scratch_.checkpoints[segment];
    std::copy(saved.states.begin(), saved.states.end(), scratch_.carry.data());
    scratch_.exponents = saved.exponents;
  }

  /// Whether a sequence has a mark at the state before step t, or ends there.
  [[nodiscard]] bool has_event(std::size_t t) const { return scratch_.events[t] != 0; }

  void note_events() {
    scratch_.events.assign(longest_ + 1, 0);
    for (std::size_t b = 0; b < count_; ++b) {
      scratch_.events[length(b)] = 1;
      for (const Mark& mark : program_.marks_of(first_ + b)) scratch_.events[mark.step] = 1;
    }
  }

  /// Where the state after step t of a sequence goes.
  [[nodiscard]] double* state_after(std::size_t t, std::size_t b) {
    if (t + 1 == length(b)) return last_state(b);
    if (t + 1 == end_) return carried(b);
    return state(t + 1, b);
  }

  [[nodiscard]] double& power(std::size_t t, std::size_t b) {
    return scratch_.powers[(t - begin_) / options_.rescale_every * count_ + b];
  }

  /// The adjoint after step t.
  [[nodiscard]] double* adjoint(std::size_t t, std::size_t b) {
    return scratch_.adjoints.data() + (scratch_.layout.slot(t, b) - block_base_) * size_;
  }

  /// What ∂log w counts at a mark.
  [[nodiscard]] double slope(const Mark& mark, std::size_t b) const {
    return program_.weights[first_ + b] * mark.coefficient;
  }

  [[nodiscard]] double log_weight(double weight, std::size_t b) const {
    return std::log(weight) + std::numbers::ln2 * static_cast<double>(scratch_.exponents[b]);
  }

  [[nodiscard]] const Mark* mark_at(std::size_t t, std::size_t b) const {
    const auto marks = program_.marks_of(first_ + b);
    if (marks.size() <= 1 && (marks.empty() || marks[0].step != t)) return nullptr;
    const auto found =
        std::lower_bound(marks.begin(), marks.end(), t,
                         [](const Mark& m, std::size_t step) { return m.step < step; });
    return found != marks.end() && found->step == t ? &*found : nullptr;
  }

  /// Whether the symbol of step t counts: before the next mark stands a coefficient of one.
  [[nodiscard]] bool counts(std::size_t t, std::size_t b) const {
    const auto marks = program_.marks_of(first_ + b);
    const auto next =
        std::upper_bound(marks.begin(), marks.end(), t,
                         [](std::size_t step, const Mark& m) { return step < m.step; });
    return next != marks.end() && next->coefficient > 0.0;
  }

  const Program& program_;
  std::size_t first_, count_;
  std::size_t size_;  // doubles of a state
  ChainOptions options_;
  ChainScratch& scratch_;

  std::size_t longest_ = 0, block_steps_ = 0, segment_steps_ = 0, segments_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // steps of the segment in scratch_.states
  std::size_t block_base_ = 0;       // slot of the first adjoint in scratch_.adjoints
};

}  // namespace hqmm::detail
