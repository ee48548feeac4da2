#include "support/expectation_twin.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace hqmm::detail::testing {
namespace {

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

}  // namespace

ExpectedCounts twin_counts(const Hmm& model, const SequenceSet& set) {
  ExpectedCounts out(model);
  for (std::size_t i = 0; i < set.size(); ++i) ExpectationTwin(model, set[i].to_vector(), out);
  return out;
}

ExpectedCounts counts_of(const Hmm& model, const SequenceSet& set, int threads) {
  return expected_counts(model, set, threads, [] { return false; }).value();
}

void expect_close(const RealMatrix& found, const RealMatrix& expected, const char* what,
                  double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  const RealMatrix error = (found - expected).cwiseAbs();
  const RealMatrix allowed = (tolerance * expected.array() + 1e-250).matrix();
  EXPECT_TRUE((error.array() <= allowed.array()).all())
      << what << ": worst relative error "
      << (error.array() / (expected.array() + 1e-250)).maxCoeff();
}

void expect_same_counts(const ExpectedCounts& found, const ExpectedCounts& expected,
                        double tolerance) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_NEAR(found.log_likelihood, expected.log_likelihood,
              tolerance * (1.0 + std::abs(expected.log_likelihood)));
  expect_close(found.transitions, expected.transitions, "transitions", tolerance);
  expect_close(found.emissions, expected.emissions, "emissions", tolerance);
  expect_close(found.initial, expected.initial, "initial", tolerance);
  EXPECT_FALSE(found.impossible);
}

void expect_twin_counts(const Hmm& model, const SequenceSet& set) {
  expect_same_counts(counts_of(model, set), twin_counts(model, set));
}

SequenceSet random_set(const Hmm& model, const std::vector<std::size_t>& lengths,
                       RandomStream& random, double missing_share) {
  std::vector<std::vector<Symbol>> sequences;
  for (const std::size_t length : lengths)
    sequences.push_back(random_symbols(length, model.alphabet_size(), random, missing_share));
  return {model.alphabet, sequences};
}

Hmm make_hmm(const RealMatrix& transition, const RealMatrix& emission, const RealVector& initial) {
  return {Alphabet::integers(static_cast<std::size_t>(emission.rows())), transition, emission,
          initial};
}

}  // namespace hqmm::detail::testing
