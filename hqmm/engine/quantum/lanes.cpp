#include "hqmm/engine/quantum/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hqmm/engine/chain/form.hpp"
#include "hqmm/engine/quantum/lanes_kernels.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {
namespace {

void transpose_lanes(const double* from, double* to) {
  for (std::size_t i = 0; i < kLanesRows; ++i)
    for (std::size_t j = 0; j < kLanesRows; ++j) to[kLanesRows * i + j] = from[kLanesRows * j + i];
}

double lanes_weight(const double* x) { return x[0] + x[1]; }

/// A few sequences of the same length with marks at the same steps, or one.
class SidePass {
 public:
  SidePass(const LanesTable& table, const Program& program, std::size_t first, std::size_t count,
           std::size_t rescale_every, LanesScratch& scratch)
      : table_(table),
        program_(program),
        first_(first),
        count_(count),
        every_(rescale_every),
        length_(program.length(first)),
        scratch_(scratch),
        rescalings_(length_ / rescale_every + 1) {
    scratch.states.resize(kLanesSide * kLanesRows * (length_ + 1));
    scratch.powers.assign(kLanesSide * rescalings_, 1.0);
    for (std::size_t b = 0; b < count_; ++b) {
      stretch_.steps[b] = program.steps_of(first + b).data();
      stretch_.states[b] = scratch.states.data() + b * kLanesRows * (length_ + 1);
      stretch_.adjoints[b] = adjoints_ + b * kLanesRows;
      std::copy_n(table.initial, kLanesRows, stretch_.states[b]);
    }
  }

  bool forward(double* log_likelihoods) {
    stretch_.matrices = table_.forward.data();
    for (std::size_t t = 0; t < length_; t += every_) {
      if (t > 0 && !rescale(t)) return false;
      stretch_.from = t;
      stretch_.to = std::min(length_, t + every_);
      kernels_.forward(stretch_, count_);
    }
    for (std::size_t b = 0; b < count_; ++b) {
      if (!usable(lanes_weight(state(length_, b)))) return false;
      log_likelihoods[first_ + b] = log_likelihood(b);
    }
    return true;
  }

  void backward(LanesResult& out) {
    stretch_.matrices = table_.backward.data();
    stretch_.gradients = out.gradients.data();
    std::fill_n(adjoints_, kLanesSide * kLanesRows, 0.0);
    const auto marks = program_.marks_of(first_);
    std::size_t next_mark = marks.size();
    for (std::size_t to = length_; to > 0;) {
      if (next_mark > 0 && marks[next_mark - 1].step == to) pass_mark(marks[--next_mark]);
      // where the adjoint crosses a rescaling, undo it
      if (to < length_ && to % every_ == 0) scale_adjoints(to);
      std::size_t from = (to - 1) / every_ * every_;
      if (next_mark > 0) from = std::max<std::size_t>(from, marks[next_mark - 1].step);
      stretch_.from = from;
      stretch_.to = to;
      kernels_.backward(stretch_, count_);
      to = from;
    }
    for (std::size_t b = 0; b < count_; ++b)
      for (std::size_t i = 0; i < kLanesRows; ++i) out.initial[i] += stretch_.adjoints[b][i];
  }

 private:
  [[nodiscard]] double* state(std::size_t t, std::size_t b) const {
    return stretch_.states[b] + kLanesRows * t;
  }
  [[nodiscard]] static bool usable(double w) { return w > kSmallestWeight && w < kLargestWeight; }
  [[nodiscard]] double& power(std::size_t t, std::size_t b) {
    return scratch_.powers[b * rescalings_ + t / every_];
  }

  bool rescale(std::size_t t) {
    for (std::size_t b = 0; b < count_; ++b) {
      double* x = state(t, b);
      const double w = lanes_weight(x);
      if (!usable(w)) return false;
      const double scale = two_to(-exponent_of(w));
      power(t, b) = scale;
      for (std::size_t i = 0; i < kLanesRows; ++i) x[i] *= scale;
    }
    return true;
  }

  [[nodiscard]] double log_likelihood(std::size_t b) {
    double sum = 0.0;
    double exponent = 0.0;  // of two, taken out of the state so far
    std::size_t t = every_;
    for (const Mark& mark : program_.marks_of(first_ + b)) {
      for (; t <= mark.step && t < length_; t += every_) exponent -= exponent_of(power(t, b));
      if (mark.coefficient != 0.0) {
        sum += mark.coefficient *
               (std::log(lanes_weight(state(mark.step, b))) + std::numbers::ln2 * exponent);
      }
    }
    return sum;
  }

  void pass_mark(const Mark& mark) {
    for (std::size_t b = 0; b < count_; ++b) {
      double* z = stretch_.adjoints[b];
      if (mark.stops_gradient) {
        std::fill_n(z, kLanesRows, 0.0);
        continue;
      }
      const double slope =
          program_.weights[first_ + b] * mark.coefficient / lanes_weight(state(mark.step, b));
      z[0] += slope;
      z[1] += slope;
    }
  }

  void scale_adjoints(std::size_t t) {
    for (std::size_t b = 0; b < count_; ++b)
      for (std::size_t i = 0; i < kLanesRows; ++i) stretch_.adjoints[b][i] *= power(t, b);
  }

  const LanesKernels& kernels_ = lanes_kernels();
  const LanesTable& table_;
  const Program& program_;
  std::size_t first_, count_, every_, length_;
  LanesScratch& scratch_;
  std::size_t rescalings_;
  LanesStretch stretch_;
  alignas(64) double adjoints_[kLanesSide * kLanesRows] = {};
};

/// Whether the sequence has the length of another and marks at the same steps.
bool alike(const Program& program, std::size_t a, std::size_t b) {
  const auto same = [](const Mark& x, const Mark& y) {
    return x.step == y.step && x.coefficient == y.coefficient &&
           x.stops_gradient == y.stops_gradient;
  };
  return program.length(a) == program.length(b) &&
         std::ranges::equal(program.marks_of(a), program.marks_of(b), same);
}

}  // namespace

void LanesTable::write(const TraceForm& form, const Program& program) {
  forward.resize(program.operators() * kLanesMatrix);
  backward.resize(program.operators() * kLanesMatrix);
  const auto stride = static_cast<std::size_t>(form.stride());
  for (std::size_t op = 0; op < program.base_operators; ++op) {
    double* to = forward.data() + op * kLanesMatrix;
    for (std::size_t k = 0; k < kLanesRows; ++k)
      std::copy_n(form.forward_matrix(op) + k * stride, kLanesRows, to + kLanesRows * k);
    transpose_lanes(to, backward.data() + op * kLanesMatrix);
  }
  for (std::size_t i = 0; i < program.words.size(); ++i) {
    double* to = forward.data() + (program.base_operators + i) * kLanesMatrix;
    lanes_kernels().multiply(forward.data() + program.words[i].last * kLanesMatrix,
                             forward.data() + program.words[i].prefix * kLanesMatrix, false, to);
    transpose_lanes(to, backward.data() + (program.base_operators + i) * kLanesMatrix);
  }
  std::copy_n(form.initial(), kLanesRows, initial);
}

LanesResult& LanesResult::operator+=(const LanesResult& other) {
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] += other.gradients[i];
  for (std::size_t i = 0; i < kLanesRows; ++i) initial[i] += other.initial[i];
  return *this;
}

bool lanes_pass(const LanesTable& table, const Program& program, std::size_t first,
                std::size_t last, std::size_t rescale_every, LanesScratch& scratch,
                double* log_likelihoods, LanesResult& out) {
  out.gradients.assign(program.operators() * kLanesMatrix, 0.0);
  std::fill_n(out.initial, kLanesRows, 0.0);
  for (std::size_t i = first; i < last;) {
    std::size_t count = 1;
    while (count < kLanesSide && i + count < last && alike(program, i, i + count)) ++count;
    if (count < kLanesSide) count = 1;
    if (program.length(i) == 0) {
      log_likelihoods[i++] = 0.0;
      continue;
    }
    SidePass pass(table, program, i, count, rescale_every, scratch);
    if (!pass.forward(log_likelihoods)) return false;
    pass.backward(out);
    i += count;
  }
  return true;
}

void chain_lanes(const LanesTable& table, const Program& program, LanesResult& result,
                 const TraceForm& form, GradientTable& out) {
  double* g = result.gradients.data();
  for (std::size_t i = program.words.size(); i-- > 0;) {
    const Word& word = program.words[i];
    const double* mine = g + (program.base_operators + i) * kLanesMatrix;
    lanes_kernels().multiply(table.backward.data() + word.last * kLanesMatrix, mine, true,
                             g + word.prefix * kLanesMatrix);
    lanes_kernels().multiply(mine, table.backward.data() + word.prefix * kLanesMatrix, true,
                             g + word.last * kLanesMatrix);
  }
  out.reset(program.base_operators, form.gradient_size());
  const auto stride = static_cast<std::size_t>(form.stride());
  for (std::size_t op = 0; op < program.base_operators; ++op) {
    const OperatorGradient to = out.of(op);
    std::fill_n(to.values, form.gradient_size(), 0.0);
    for (std::size_t k = 0; k < kLanesRows; ++k)
      std::copy_n(g + op * kLanesMatrix + kLanesRows * k, kLanesRows, to.values + k * stride);
    *to.used = 1;
  }
}

}  // namespace hqmm::detail
