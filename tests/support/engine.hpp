// Material for the tests of the engines: models and batches of random shapes, every engine that
// fits one, and what it means for two gradients to agree.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "hqmm/engine/quantum/choose.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {

/// Relative; models that are not feasible lose a digit on the way.
constexpr double kAgree = 3e-11;

struct Batch {
  Hqmm model;
  SequenceSet set;
  GradientOptions options;

  [[nodiscard]] std::vector<SequenceView> views() const;
  [[nodiscard]] BatchGradient gradient_by(EngineKind engine, int threads = 1) const;
};

std::vector<SequenceView> views(const SequenceSet& set);

SequenceSet set_of(Index s, const std::vector<std::vector<Symbol>>& sequences);

bool is_pure(const Matrix& state);

/// Every engine but the naive one that must take this batch: forms are for all models of a kind.
std::vector<EngineKind> engines_for(const Batch& batch);

/// Relative to what is expected, or to `least` where that is mostly cancelled. Sizes are the
/// largest entries: gradients by operators of tiny probabilities have squares beyond a double.
void expect_close(const Stack& found, const Stack& expected, double least, const char* what);
void expect_close(double found, double expected, const char* what);

void expect_same_scores(const BatchGradient& found, const BatchGradient& expected);

/// Of the initial state, where it meets the range of ρ₀ = BB†.
void expect_same_initial_state(const Batch& batch, const BatchGradient& found,
                               const BatchGradient& expected, double least);

/// All of it: scores, every set, and the initial state where it meets the range of ρ₀ = BB†.
void expect_same(const Batch& batch, const BatchGradient& found, const BatchGradient& expected);

/// Calls check(found, expected) for every engine that fits and the naive one.
void check_every_engine(
    const Batch& batch,
    const std::function<void(const BatchGradient& found, const BatchGradient& expected)>& check);

void expect_every_engine_as_naive(const Batch& batch);

/// Bit by bit.
void expect_identical(const BatchGradient& found, const BatchGradient& expected);

// Random batches.

/// A density matrix of this rank.
Matrix random_state(Index n, Index rank, RandomStream& random, Field field = Field::kComplex);

std::vector<std::vector<Symbol>> random_sequences(const std::vector<std::size_t>& lengths, Index s,
                                                  RandomStream& random, double missing_share = 0.0);

}  // namespace hqmm::detail::testing
