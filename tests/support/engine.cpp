#include "support/engine.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/engine/quantum/lanes.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail::testing {

std::vector<SequenceView> Batch::views() const { return testing::views(set); }

BatchGradient Batch::gradient_by(EngineKind engine, int threads) const {
  GradientOptions with = options;
  with.engine = engine;
  return gradient(model, views(), with, threads);
}

std::vector<SequenceView> views(const SequenceSet& set) {
  std::vector<SequenceView> out;
  for (std::size_t i = 0; i < set.size(); ++i) out.push_back(set[i]);
  return out;
}

SequenceSet set_of(Index s, const std::vector<std::vector<Symbol>>& sequences) {
  return {Alphabet::integers(static_cast<std::size_t>(s)), sequences};
}

bool is_pure(const Matrix& state) { return std::abs(state.squaredNorm() - 1.0) < 1e-14; }

std::vector<EngineKind> engines_for(const Batch& batch) {
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

void expect_close(const Stack& found, const Stack& expected, double least, const char* what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  const double scale = std::max(least, largest_entry(expected));
  EXPECT_LE(distance(found, expected), kAgree * scale) << what << ", size " << scale;
}

void expect_close(double found, double expected, const char* what) {
  EXPECT_NEAR(found, expected, kAgree * std::max(1.0, std::abs(expected))) << what;
}

void expect_same_scores(const BatchGradient& found, const BatchGradient& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  expect_close(found.raw_log_likelihood, expected.raw_log_likelihood, "raw log-likelihood");
  expect_close(found.log_likelihood, expected.log_likelihood, "log-likelihood");
}

void expect_same_initial_state(const Batch& batch, const BatchGradient& found,
                               const BatchGradient& expected, double least) {
  const Matrix root = square_root(batch.model.initial_state);
  expect_close(product(found.initial_state, root), product(expected.initial_state, root), least,
               "∂/∂ρ₀ · √ρ₀");
}

void expect_same(const Batch& batch, const BatchGradient& found, const BatchGradient& expected) {
  expect_same_scores(found, expected);
  ASSERT_EQ(found.sets.size(), expected.sets.size());
  const double least = expected.scored > 0 ? 1.0 : 0.0;  // nothing scored: exactly zero
  for (std::size_t k = 0; k < expected.sets.size(); ++k)
    expect_close(found.sets[k], expected.sets[k], least, "gradient of a set");
  ASSERT_EQ(found.emissions.size(), expected.emissions.size());
  for (std::size_t k = 0; k < expected.emissions.size(); ++k)
    expect_close(found.emissions[k].cast<Complex>(), expected.emissions[k].cast<Complex>(), least,
                 "gradient of the emissions");
  ASSERT_EQ(found.initial_state.size(), expected.initial_state.size());
  if (expected.initial_state.size() == 0) return;
  expect_same_initial_state(batch, found, expected, least);
  EXPECT_LE(norm_distance(found.initial_state, Matrix(found.initial_state.adjoint())),
            kAgree * found.initial_state.norm());
}

void check_every_engine(
    const Batch& batch,
    const std::function<void(const BatchGradient& found, const BatchGradient& expected)>& check) {
  const BatchGradient expected = batch.gradient_by(EngineKind::kNaive);
  for (const EngineKind engine : engines_for(batch)) {
    SCOPED_TRACE(name_of(engine));
    try {
      check(batch.gradient_by(engine), expected);
    } catch (const NotFiniteError& error) {
      ADD_FAILURE() << "not finite at sequence " << error.place().sequence << ", symbol "
                    << error.place().position;
    }
  }
}

void expect_every_engine_as_naive(const Batch& batch) {
  check_every_engine(batch, [&](const BatchGradient& found, const BatchGradient& expected) {
    expect_same(batch, found, expected);
  });
}

void expect_identical(const BatchGradient& found, const BatchGradient& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_EQ(found.raw_log_likelihood, expected.raw_log_likelihood);
  EXPECT_EQ(found.log_likelihood, expected.log_likelihood);
  ASSERT_EQ(found.sets.size(), expected.sets.size());
  for (std::size_t k = 0; k < expected.sets.size(); ++k)
    EXPECT_TRUE(found.sets[k] == expected.sets[k]) << "set " << k;
  ASSERT_EQ(found.emissions.size(), expected.emissions.size());
  for (std::size_t k = 0; k < expected.emissions.size(); ++k)
    EXPECT_TRUE(found.emissions[k] == expected.emissions[k]) << "emissions " << k;
  ASSERT_EQ(found.initial_state.size(), expected.initial_state.size());
  EXPECT_TRUE(found.initial_state == expected.initial_state);
}

Matrix random_state(Index n, Index rank, RandomStream& random, Field field) {
  Matrix g(n, rank);
  for (Index k = 0; k < g.size(); ++k) {
    const double re = random.normal();
    g.data()[k] = {re, field == Field::kReal ? 0.0 : random.normal()};
  }
  const Matrix rho = product(g, Matrix(g.adjoint()));
  return 0.5 * (rho + rho.adjoint()) / rho.trace().real();
}

std::vector<std::vector<Symbol>> random_sequences(const std::vector<std::size_t>& lengths, Index s,
                                                  RandomStream& random, double missing_share) {
  std::vector<std::vector<Symbol>> out;
  for (const std::size_t length : lengths)
    out.push_back(random_symbols(length, s, random, missing_share));
  return out;
}

}  // namespace hqmm::detail::testing
