// TwoWayPass: forward and backward over one sequence after another, both ways at once.
//
// Backward, the recursion z_t = R[y_t]ᵀ z_{t+1} of a sequence with a single mark at its end does not
// need a forward state before it is done: it can start from the slope of an unnormalised trace, and
// what that is to be divided by is a factor of the gradient. So one state walks up and one adjoint
// walks down, and the processor adds to one while the other waits for its last sum. Each drifts and
// is brought back by its own powers of two. For small states only, where a step is short and a
// group of sequences (chain.hpp) costs more to gather than its product saves.
//
// A sequence with other marks, the end of a burn-in for one, goes up first and down afterwards.
#pragma once

#include "hqmm/engine/chain/chain_scratch.hpp"
#include "hqmm/engine/chain/chain_states.hpp"
#include "hqmm/engine/chain/linear_form.hpp"
#include "hqmm/engine/chain/two_way_kernels.hpp"

namespace hqmm::detail {

/// Sequences beyond this are left to ChainPass, which keeps a part of the states only.
inline constexpr std::size_t kTwoWayLongest = 20'000;

class TwoWayPass {
 public:
  /// Like ChainPass, for states of kTwoWayLeastRows to kTwoWayMostRows rows, with rescalings every
  /// few steps and no totals.
  TwoWayPass(const TraceForm& form, const Program& program, std::size_t first, std::size_t last,
             const ChainOptions& options, ChainScratch& scratch, ChainResult& out);

  /// False when a weight left the safe range; the result is then worthless.
  [[nodiscard]] bool run();

 private:
  [[nodiscard]] bool run_sequence(std::size_t i);
  /// States and adjoints by operator, so that an operator's gradient is one product.
  void lay_out();
  [[nodiscard]] bool walk_both();
  [[nodiscard]] bool walk_up();
  void walk_down();
  void add_log_likelihood();
  /// Every adjoint times what its end and all powers of two make of it.
  [[nodiscard]] bool scale_adjoints();
  void accumulate();

  [[nodiscard]] bool rescale(double* x, int& exponent) const;
  void start_adjoint(double slope);
  /// The one at mark and the power of two at t, for the adjoint before step t.
  void adjust_adjoint(std::size_t t, const Mark* mark);

  [[nodiscard]] double* state(std::size_t t) const {
    return steps_.states + steps_.places[t + 1] * static_cast<std::size_t>(steps_.stride);
  }
  [[nodiscard]] double* adjoint_before(std::size_t t) const {
    return steps_.adjoints + steps_.places[t] * static_cast<std::size_t>(steps_.stride);
  }
  /// What state t was scaled by, and the adjoint after step t, as exponents of two.
  [[nodiscard]] int up_exponent(std::size_t t) const;
  [[nodiscard]] int down_exponent(std::size_t t) const;

  const TraceForm& form_;
  const Program& program_;
  std::size_t first_, last_, pace_;
  ChainScratch& scratch_;
  ChainResult& out_;
  TwoWayKernels kernels_;
  TwoWaySteps steps_;
  // of the sequence at hand
  std::span<const Mark> marks_;
  std::size_t sequence_ = 0, length_ = 0;
};

}  // namespace hqmm::detail
