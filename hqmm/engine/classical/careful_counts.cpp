// Smoothing in terms of probabilities alone. With p = A x_t and the posterior γ_{t+1}:
//
//   ξ_t(i, j) = γ_{t+1}(i) · A_ij x_t(j) / p(i),     γ_t(j) = Σ_i ξ_t(i, j)
//
// The fraction is at most one, so nothing overflows, however small p is.
#include <algorithm>
#include <cmath>

#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/engine/classical/forward_backward.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kStatesKept = 4096;  // states kept; the others are computed again

class CarefulPass {
 public:
  CarefulPass(const Hmm& model, const SequenceView& sequence)
      : model_(model), sequence_(sequence), predicted_(model.latent_dim()) {}

  std::optional<std::size_t> forward() {
    RealVector x = model_.initial;
    for (std::size_t t = 0; t < sequence_.size(); ++t) {
      if (t % kStatesKept == 0) starts_.push_back(x);
      const double weight = advance(t, x);
      if (!(weight > 0.0) || !std::isfinite(weight)) return t;
      if (sequence_[t] == kMissing) continue;
      ++scored_;
      log_likelihood_ += std::log(weight);
    }
    last_ = x / x.sum();
    return {};
  }

  /// Counts the sequence as often as its weight says.
  void backward(double weight, ExpectedCounts& counts) {
    counts.scored += scored_;
    counts.log_likelihood += weight * log_likelihood_;
    RealVector posterior = weight * last_;
    RealMatrix states(model_.latent_dim(), static_cast<Index>(kStatesKept));
    for (std::size_t block = starts_.size(); block-- > 0;) {
      const std::size_t begin = block * kStatesKept;
      const std::size_t size = std::min(kStatesKept, sequence_.size() - begin);
      RealVector x = starts_[block];
      for (std::size_t k = 0; k < size; ++k) {
        states.col(static_cast<Index>(k)) = x;
        advance(begin + k, x);
      }
      for (std::size_t k = size; k-- > 0;) {
        const Symbol symbol = sequence_[begin + k];
        if (symbol != kMissing) count_emission(symbol, posterior, counts.emissions);
        retreat(states.col(static_cast<Index>(k)), posterior, counts.transitions);
      }
    }
    counts.initial += posterior;
  }

 private:
  /// x ← diag(C_y) A x, scaled to sum one; returns the sum before.
  double advance(std::size_t t, RealVector& x) {
    predicted_.noalias() = model_.transition * x;
    const Symbol symbol = sequence_[t];
    if (symbol != kMissing) predicted_.array() *= emission_of(symbol).array();
    const double weight = predicted_.sum();
    x = predicted_ / weight;
    return weight;
  }

  [[nodiscard]] SymbolMembers members_of(Symbol symbol) const {
    return members(static_cast<std::size_t>(model_.alphabet_size()), symbol);
  }

  /// C_y, summed over a set.
  [[nodiscard]] RealVector emission_of(Symbol symbol) const {
    RealVector out = RealVector::Zero(model_.latent_dim());
    for (const Symbol y : members_of(symbol)) out += model_.emission.row(y).transpose();
    return out;
  }

  /// Each member of a set has its share of what was seen.
  void count_emission(Symbol symbol, const RealVector& posterior, RealMatrix& emissions) const {
    if (symbol < model_.alphabet_size()) {
      emissions.row(symbol) += posterior.transpose();
      return;
    }
    const RealVector all = emission_of(symbol);
    for (const Symbol y : members_of(symbol))
      for (Index i = 0; i < all.size(); ++i)
        if (all(i) > 0.0) emissions(y, i) += posterior(i) * model_.emission(y, i) / all(i);
  }

  void retreat(const Eigen::Ref<const RealVector>& x, RealVector& posterior,
               RealMatrix& transitions) {
    predicted_.noalias() = model_.transition * x;
    for (Index j = 0; j < x.size(); ++j) {
      double sum = 0.0;
      for (Index i = 0; i < x.size(); ++i) {
        if (!(predicted_(i) > 0.0)) continue;
        const double joint = model_.transition(i, j) * x(j) / predicted_(i) * posterior(i);
        transitions(i, j) += joint;
        sum += joint;
      }
      earlier_.resize(x.size());
      earlier_(j) = sum;
    }
    posterior.swap(earlier_);
  }

  const Hmm& model_;
  const SequenceView& sequence_;
  std::uint64_t scored_ = 0;
  double log_likelihood_ = 0.0;
  std::vector<RealVector> starts_;
  RealVector last_, predicted_, earlier_;
};

}  // namespace

std::optional<std::size_t> careful_counts(const Hmm& model, const SequenceView& sequence,
                                          ExpectedCounts& counts, double weight) {
  CarefulPass pass(model, sequence);
  if (const auto impossible_at = pass.forward()) return impossible_at;
  pass.backward(weight, counts);
  return {};
}

}  // namespace hqmm::detail
