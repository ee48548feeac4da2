// Filters: a model's state carried along a sequence, one symbol at a time.
//
// All filters have the same members, so scoring, prediction and sampling are written once for
// any. The state is renormalised at every step: sequences of any length neither underflow
// nor overflow.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/export.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hmm.hpp"
#include "hqmm/model/hqmm.hpp"

namespace HQMM_API hqmm {

/// The weight of one symbol: P(y | past) = raw / total. For a trace-preserving model total is 1.
struct StepWeight {
  double raw = 1.0;    // tr 𝒦_y(ρ)
  double total = 1.0;  // Σ_y' tr 𝒦_y'(ρ)
};

/// Stands for the length of a sequence that is not known yet (a live stream).
inline constexpr std::size_t kUnknownLength = std::numeric_limits<std::size_t>::max();

/// For one thread at a time; a copy for each serves several.
class HqmmFilter {
 public:
  /// Keeps a reference to the model. Begins at the initial state of a sequence of unknown length.
  explicit HqmmFilter(const Hqmm& model);

  /// Back to the initial state, before the first symbol of a sequence of `length` symbols. A model
  /// anchored at the end of sequences needs the length and throws kUsage when it is unknown.
  void restart(std::size_t length = kUnknownLength);
  /// Moves the state over one symbol. A missing symbol applies the total channel and weighs 1. A
  /// symbol of probability zero, or one lost in the rounding of the state, weighs 0 and moves the
  /// state like a missing one. Throws kBadData when no symbol has any weight, which needs
  /// an infeasible model.
  StepWeight step(Symbol symbol);
  /// P(y | past) for every y, summing to one. Throws like step().
  void next_distribution(std::span<double> out) const;
  /// Moves the state over one symbol that is not known.
  void skip() { step(kMissing); }

  [[nodiscard]] Matrix state() const;
  void set_state(const Matrix& rho);
  [[nodiscard]] std::size_t alphabet_size() const { return model_->alphabet.size(); }

 private:
  struct Tables;  // the operators as the kernels need them; shared by copies of the filter

  [[nodiscard]] std::uint32_t current_set() const { return model_->positions.set_at(t_, length_); }
  /// next ← 𝒦_y(ρ), or the sum over all symbols for a missing one; returns its trace.
  double apply(std::uint32_t set, Symbol symbol);
  double apply_enlarged(std::uint32_t set, Symbol symbol);
  void scale_next(std::uint32_t set, Symbol symbol);
  [[nodiscard]] bool lost_in_rounding(double weight, double heaviest) const;

  const Hqmm* model_;
  std::shared_ptr<const Tables> tables_;
  std::size_t length_ = kUnknownLength;
  std::size_t t_ = 0;
  detail::AlignedDoubles rho_, next_;  // n columns of real parts over imaginary parts
  detail::AlignedDoubles moved_;       // Kρ and iKρ
};

/// For one thread at a time; a copy for each serves several.
class HmmFilter {
 public:
  explicit HmmFilter(const Hmm& model);

  void restart(std::size_t length = kUnknownLength);
  StepWeight step(Symbol symbol);
  void next_distribution(std::span<double> out) const;
  void skip() { step(kMissing); }

  [[nodiscard]] const RealVector& state() const noexcept { return x_; }
  void set_state(const RealVector& x);
  [[nodiscard]] std::size_t alphabet_size() const { return model_->alphabet.size(); }

 private:
  const Hmm* model_;
  RealVector x_;          // distribution over states now
  RealVector predicted_;  // A x
};

/// For one thread at a time; a copy for each serves several.
class EdgeHmmFilter {
 public:
  explicit EdgeHmmFilter(const EdgeHmm& model);

  void restart(std::size_t length = kUnknownLength);
  StepWeight step(Symbol symbol);
  void next_distribution(std::span<double> out) const;
  void skip() { step(kMissing); }

  [[nodiscard]] const RealVector& state() const noexcept { return x_; }
  void set_state(const RealVector& x) { x_ = x; }
  [[nodiscard]] std::size_t alphabet_size() const { return model_->alphabet.size(); }

 private:
  struct Tables;  // shared by copies of the filter

  const EdgeHmm* model_;
  std::shared_ptr<const Tables> tables_;
  RealVector x_, next_;
};

/// The distribution of the symbol `steps` ahead (1 = the next one); the filter itself does not
/// move.
template <typename Filter>
void predict_ahead(const Filter& filter, std::size_t steps, std::span<double> out) {
  if (steps == 1) {
    filter.next_distribution(out);
    return;
  }
  Filter ahead = filter;
  for (std::size_t k = 1; k < steps; ++k) ahead.skip();
  ahead.next_distribution(out);
}

}  // namespace hqmm
