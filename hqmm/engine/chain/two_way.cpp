#include "hqmm/engine/chain/two_way.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hqmm/core/interruption.hpp"

namespace hqmm::detail {
namespace {

bool is_safe(double weight) { return weight > kSmallestWeight && weight < kLargestWeight; }

}  // namespace

TwoWayPass::TwoWayPass(const TraceForm& form, const Program& program, std::size_t first,
                       std::size_t last, const ChainOptions& options, ChainScratch& scratch,
                       ChainResult& out)
    : form_(form),
      program_(program),
      first_(first),
      last_(last),
      pace_(options.rescale_every),
      scratch_(scratch),
      out_(out),
      kernels_(two_way_kernels(form.rows())) {
  std::size_t longest = 0;
  for (std::size_t i = first; i < last; ++i) longest = std::max(longest, program.length(i));
  const auto stride = static_cast<std::size_t>(form.stride());
  scratch.states.resize((longest + 1) * stride);
  scratch.adjoints.resize((longest + 1) * stride);
  scratch.places.resize(longest + 2);
  scratch.uses.assign(program.operators(), 0);
  steps_.places = scratch.places.data();
  steps_.forward = form.forward_matrix(0);
  steps_.backward = form.backward_matrix(0);
  steps_.rows = form.rows();
  steps_.stride = form.stride();
  steps_.states = scratch.states.data();
  steps_.adjoints = scratch.adjoints.data();
}

bool TwoWayPass::run() {
  out_.gradients.reset(form_.gradient_count(), form_.gradient_size());
  out_.initial.assign(static_cast<std::size_t>(form_.state_size()), 0.0);
  for (std::size_t i = first_; i < last_; ++i) {
    out_.log_likelihoods[i] = out_.log_totals[i] = 0.0;
    if (program_.length(i) > 0 && !run_sequence(i)) return false;
  }
  return true;
}

bool TwoWayPass::run_sequence(std::size_t i) {
  check_interruption(i);
  sequence_ = i;
  length_ = program_.length(i);
  marks_ = program_.marks_of(i);
  steps_.ops = program_.steps_of(i).data();
  lay_out();
  form_.copy_initial(state(0));
  const std::size_t rescalings = length_ / pace_ + 1;
  scratch_.up_exponents.assign(rescalings, 0);
  scratch_.down_exponents.assign(rescalings, 0);
  if (marks_.size() == 1 && marks_[0].step == length_ && !marks_[0].stops_gradient) {
    if (!walk_both() || !scale_adjoints()) return false;
    add_log_likelihood();
  } else {
    if (!walk_up()) return false;
    add_log_likelihood();
    if (marks_.empty()) return true;
    walk_down();
  }
  accumulate();
  return true;
}

void TwoWayPass::lay_out() {
  std::vector<std::uint32_t>& uses = scratch_.uses;
  scratch_.met.clear();
  for (std::size_t t = 0; t < length_; ++t)
    if (uses[steps_.ops[t]]++ == 0) scratch_.met.push_back({steps_.ops[t], 0, 0});
  std::uint32_t next = 0;
  for (Group& run : scratch_.met) {
    run.first = next;
    run.count = uses[run.op];
    uses[run.op] = next;
    next += static_cast<std::uint32_t>(run.count);
  }
  std::uint32_t* places = scratch_.places.data();
  places[0] = places[length_ + 1] = next;
  for (std::size_t t = 0; t < length_; ++t) places[t + 1] = uses[steps_.ops[t]]++;
  for (const Group& run : scratch_.met) uses[run.op] = 0;
}

bool TwoWayPass::rescale(double* x, int& exponent) const {
  const double weight = form_.weight(x);
  if (!is_safe(weight)) return false;
  const int by = exponent_of(weight);
  const double scale = two_to(-by);
  for (Index i = 0; i < steps_.rows; ++i) x[i] *= scale;
  exponent += by;
  return true;
}

bool TwoWayPass::walk_both() {
  start_adjoint(1.0);
  for (std::size_t done = 0, k = 0; done < length_; done += pace_, ++k) {
    if (done > 0) {
      scratch_.up_exponents[k] = scratch_.up_exponents[k - 1];
      scratch_.down_exponents[k] = scratch_.down_exponents[k - 1];
      if (!rescale(state(done), scratch_.up_exponents[k]) ||
          !rescale(adjoint_before(length_ - done), scratch_.down_exponents[k]))
        return false;
    }
    kernels_.both(steps_, done, length_ - done, std::min(pace_, length_ - done));
  }
  return is_safe(form_.weight(state(length_)));
}

bool TwoWayPass::walk_up() {
  for (std::size_t t = 0, k = 0; t < length_; t += pace_, ++k) {
    if (t > 0) {
      scratch_.up_exponents[k] = scratch_.up_exponents[k - 1];
      if (!rescale(state(t), scratch_.up_exponents[k])) return false;
    }
    kernels_.forward(steps_, t, std::min(length_, t + pace_));
  }
  return is_safe(form_.weight(state(length_)));
}

/// With the powers of two of the way up, so that a product of an adjoint and its state is what it
/// is.
void TwoWayPass::walk_down() {
  start_adjoint(0.0);
  std::size_t next_mark = marks_.size();
  for (std::size_t to = length_; to > 0;) {
    const bool marked = next_mark > 0 && marks_[next_mark - 1].step == to;
    adjust_adjoint(to, marked ? &marks_[--next_mark] : nullptr);
    std::size_t from = (to - 1) / pace_ * pace_;
    if (next_mark > 0) from = std::max<std::size_t>(from, marks_[next_mark - 1].step);
    kernels_.backward(steps_, from, to);
    to = from;
  }
  const double* z = adjoint_before(0);
  for (Index i = 0; i < steps_.rows; ++i) out_.initial[static_cast<std::size_t>(i)] += z[i];
}

void TwoWayPass::adjust_adjoint(std::size_t t, const Mark* mark) {
  double* z = adjoint_before(t);
  if (mark != nullptr && mark->stops_gradient) {
    std::fill_n(z, steps_.stride, 0.0);
  } else if (mark != nullptr) {
    form_.add_slope(state(t), program_.weights[sequence_] * mark->coefficient, z);
  }
  if (t == length_ || t % pace_ != 0) return;
  const std::size_t k = t / pace_;
  const double scale = two_to(scratch_.up_exponents[k - 1] - scratch_.up_exponents[k]);
  for (Index i = 0; i < steps_.rows; ++i) z[i] *= scale;
}

void TwoWayPass::start_adjoint(double slope) {
  double* z = adjoint_before(length_);
  std::fill_n(z, steps_.stride, 0.0);
  std::fill_n(z, form_.traced(), slope);
}

int TwoWayPass::up_exponent(std::size_t t) const {
  return scratch_.up_exponents[std::min(t, length_ - 1) / pace_];
}

int TwoWayPass::down_exponent(std::size_t t) const {
  return scratch_.down_exponents[(length_ - 1 - t) / pace_];
}

void TwoWayPass::add_log_likelihood() {
  for (const Mark& mark : marks_) {
    if (mark.coefficient == 0.0) continue;
    out_.log_likelihoods[sequence_] +=
        mark.coefficient *
        (std::log(form_.weight(state(mark.step))) + std::numbers::ln2 * up_exponent(mark.step));
  }
}

bool TwoWayPass::scale_adjoints() {
  const double slope =
      program_.weights[sequence_] * marks_[0].coefficient / form_.weight(state(length_));
  const int end = up_exponent(length_);
  const auto factor = [&](int up, int down) {
    const int exponent = up + down - end;
    return std::abs(exponent) < 900 ? slope * two_to(exponent) : 0.0;
  };
  for (std::size_t from = 0; from < length_;) {
    // both exponents stay as they are up to here
    const std::size_t up_end = (from / pace_ + 1) * pace_;
    const std::size_t down_end = length_ - (length_ - 1 - from) / pace_ * pace_;
    const std::size_t to = std::min({up_end, down_end, length_});
    const double by = factor(up_exponent(from), down_exponent(from));
    if (by == 0.0 && slope != 0.0) return false;
    kernels_.scale(steps_, from, to, by);
    from = to;
  }
  // the adjoint before the first step has made no more rescalings than the one after it
  const double by = factor(0, down_exponent(0));
  const double* z = adjoint_before(0);
  for (Index i = 0; i < steps_.rows; ++i) out_.initial[static_cast<std::size_t>(i)] += by * z[i];
  return true;
}

void TwoWayPass::accumulate() {
  for (const Group& run : scratch_.met) {
    const std::size_t first = run.first * static_cast<std::size_t>(steps_.stride);
    form_.accumulate(run.op, steps_.adjoints + first, steps_.states + first, run.count,
                     out_.gradients);
  }
}

}  // namespace hqmm::detail
