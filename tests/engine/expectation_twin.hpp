// Forward–backward as it is written down: one sequence, scaled to sum one at every step. What the
// tiled passes are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "hqmm/engine/forward_backward.hpp"

namespace hqmm::testing {

class ExpectationTwin {
 public:
  /// Adds the counts of one sequence.
  ExpectationTwin(const Hmm& model, std::vector<Symbol> symbols, ExpectedCounts& counts)
      : model_(model), symbols_(std::move(symbols)), counts_(counts) {
    forward();
    backward();
  }

 private:
  /// x ← diag(C_y) A x, scaled to sum one; returns the scale P(y | past).
  double advance(std::size_t t, const RealVector& from, RealVector& to) const {
    to.noalias() = model_.transition * from;
    if (symbols_[t] != kMissing) to.array() *= model_.emission.row(symbols_[t]).transpose().array();
    const double weight = to.sum();
    to /= weight;
    return weight;
  }

  void forward() {
    filtered_.push_back(model_.initial);
    for (std::size_t t = 0; t < symbols_.size(); ++t) {
      RealVector next(model_.latent_dim());
      weights_.push_back(advance(t, filtered_.back(), next));
      filtered_.push_back(next);
      if (symbols_[t] == kMissing) continue;
      ++counts_.scored;
      counts_.log_likelihood += std::log(weights_.back());
    }
  }

  void backward() {
    RealVector beta = RealVector::Ones(model_.latent_dim());  // P(later symbols | state), scaled
    RealMatrix pairs = RealMatrix::Zero(model_.latent_dim(), model_.latent_dim());
    for (std::size_t t = symbols_.size(); t-- > 0;) {
      RealVector carried = beta / weights_[t];
      if (symbols_[t] != kMissing) {
        counts_.emissions.row(symbols_[t]) +=
            (filtered_[t + 1].array() * beta.array()).matrix().transpose();
        carried.array() *= model_.emission.row(symbols_[t]).transpose().array();
      }
      pairs.noalias() += carried * filtered_[t].transpose();
      beta.noalias() = model_.transition.transpose() * carried;
    }
    counts_.transitions.array() += pairs.array() * model_.transition.array();
    counts_.initial.array() += model_.initial.array() * beta.array();
  }

  const Hmm& model_;
  std::vector<Symbol> symbols_;
  ExpectedCounts& counts_;
  std::vector<RealVector> filtered_;
  std::vector<double> weights_;
};

inline ExpectedCounts twin_counts(const Hmm& model, const SequenceSet& set) {
  ExpectedCounts out(model);
  for (std::size_t i = 0; i < set.size(); ++i) ExpectationTwin(model, set[i].to_vector(), out);
  return out;
}

}  // namespace hqmm::testing
