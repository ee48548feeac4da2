// Material for the tests of the engines: models and batches of random shapes, every engine that
// fits one, and what it means for two gradients to agree.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <string>
#include <vector>

#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/engine/quantum/lanes.hpp"
#include "reference.hpp"

namespace hqmm::testing {

constexpr double kAgree = 1e-11;

struct Batch {
  Hqmm model;
  SequenceSet set;
  GradientOptions options;

  [[nodiscard]] std::vector<SequenceView> views() const {
    std::vector<SequenceView> out;
    for (std::size_t i = 0; i < set.size(); ++i) out.push_back(set[i]);
    return out;
  }
  [[nodiscard]] BatchGradient gradient_by(EngineKind engine, int threads = 1) const {
    GradientOptions with = options;
    with.engine = engine;
    return gradient(model, views(), with, threads);
  }
};

inline SequenceSet set_of(Index s, const std::vector<std::vector<Symbol>>& sequences) {
  return {Alphabet::integers(static_cast<std::size_t>(s)), sequences};
}

inline bool is_pure(const Matrix& state) { return std::abs(state.squaredNorm() - 1.0) < 1e-14; }

/// Every engine but the naive one that must take this batch: forms are for all models of a kind.
inline std::vector<EngineKind> engines_for(const Batch& batch) {
  std::vector<EngineKind> out = {EngineKind::kAuto, EngineKind::kSuperoperator, EngineKind::kKraus};
  const std::vector<SequenceView> views = batch.views();
  const bool missing = std::any_of(views.begin(), views.end(),
                                   [](const SequenceView& view) { return view.has_missing(); });
  if (batch.model.kraus_rank() == 1 && !missing) {
    out.push_back(EngineKind::kFactor);
    if (is_pure(batch.model.initial_state)) out.push_back(EngineKind::kPure);
  }
  if (batch.model.latent_dim() == 2 && is_feasible(batch.model) &&
      batch.set.longest() <= kLanesLongest)
    out.push_back(EngineKind::kLanes);
  return out;
}

/// B with BB† = ρ, without eigenvalues that are but rounding.
inline Matrix square_root(const Matrix& state) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(state);
  const RealVector roots =
      (eigen.eigenvalues().array() > 1e-13).select(eigen.eigenvalues(), 0.0).cwiseSqrt();
  return eigen.eigenvectors() * roots.cast<Complex>().asDiagonal();
}

/// Relative to what is expected, or to `least` where that is mostly cancelled. Sizes are the
/// largest entries: gradients by operators of tiny probabilities have squares beyond a double.
template <typename Found, typename Expected>
void expect_close(const Found& found, const Expected& expected, double least, const char* what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  const double scale = std::max(least, expected.cwiseAbs().maxCoeff());
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), kAgree * scale) << what << ", size " << scale;
}

inline void expect_close(double found, double expected, const char* what) {
  EXPECT_NEAR(found, expected, kAgree * std::max(1.0, std::abs(expected))) << what;
}

inline void expect_same_scores(const BatchGradient& found, const BatchGradient& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  expect_close(found.raw_log_likelihood, expected.raw_log_likelihood, "raw log-likelihood");
  expect_close(found.log_likelihood, expected.log_likelihood, "log-likelihood");
}

/// All of it: scores, every set, and the initial state where it meets the range of ρ₀ = BB†.
inline void expect_same(const Batch& batch, const BatchGradient& found,
                        const BatchGradient& expected) {
  expect_same_scores(found, expected);
  ASSERT_EQ(found.sets.size(), expected.sets.size());
  const double least = expected.scored > 0 ? 1.0 : 0.0;  // nothing scored: exactly zero
  for (std::size_t k = 0; k < expected.sets.size(); ++k)
    expect_close(found.sets[k], expected.sets[k], least, "gradient of a set");
  ASSERT_EQ(found.initial_state.size(), expected.initial_state.size());
  if (expected.initial_state.size() == 0) return;
  const Matrix root = square_root(batch.model.initial_state);
  expect_close(found.initial_state * root, expected.initial_state * root, least, "∂/∂ρ₀ · √ρ₀");
  EXPECT_LE((found.initial_state - found.initial_state.adjoint()).norm(),
            kAgree * found.initial_state.norm());
}

/// Calls check(found, expected) for every engine that fits and the naive one.
template <typename Check>
void check_every_engine(const Batch& batch, Check check) {
  const BatchGradient expected = batch.gradient_by(EngineKind::kNaive);
  for (const EngineKind engine : engines_for(batch)) {
    SCOPED_TRACE(engine_name(engine));
    try {
      check(batch.gradient_by(engine), expected);
    } catch (const NotFiniteError& error) {
      ADD_FAILURE() << "not finite at sequence " << error.place().sequence << ", symbol "
                    << error.place().position;
    }
  }
}

inline void expect_every_engine_as_naive(const Batch& batch) {
  check_every_engine(batch, [&](const BatchGradient& found, const BatchGradient& expected) {
    expect_same(batch, found, expected);
  });
}

/// Bit by bit.
inline void expect_identical(const BatchGradient& found, const BatchGradient& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_EQ(found.raw_log_likelihood, expected.raw_log_likelihood);
  EXPECT_EQ(found.log_likelihood, expected.log_likelihood);
  ASSERT_EQ(found.sets.size(), expected.sets.size());
  for (std::size_t k = 0; k < expected.sets.size(); ++k)
    EXPECT_TRUE(found.sets[k] == expected.sets[k]) << "set " << k;
  ASSERT_EQ(found.initial_state.size(), expected.initial_state.size());
  EXPECT_TRUE(found.initial_state == expected.initial_state);
}

// Random batches.

/// A density matrix of this rank.
inline Matrix random_state(Index n, Index rank, RandomStream& random) {
  Matrix g(n, rank);
  for (Index k = 0; k < g.size(); ++k) {
    const double re = random.normal();
    g.data()[k] = {re, random.normal()};
  }
  const Matrix rho = g * g.adjoint();
  return 0.5 * (rho + rho.adjoint()) / rho.trace().real();
}

inline std::vector<std::vector<Symbol>> random_sequences(const std::vector<std::size_t>& lengths,
                                                         Index s, RandomStream& random,
                                                         double missing_share = 0.0) {
  std::vector<std::vector<Symbol>> out;
  for (const std::size_t length : lengths)
    out.push_back(random_symbols(length, s, random, missing_share));
  return out;
}

}  // namespace hqmm::testing
