// Real models and emission on states, where their own forms could go wrong: rare and impossible
// symbols, numbers that are none, sequences longer than a segment, one channel for many symbols.
#include <cmath>
#include <limits>

#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/sample.hpp"
#include "support/engine.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kStructuredSeed = 1925;

std::string text(const Shape& shape) {
  return fmt::format("{} {} n={} s={} w={}", shape.field == Field::kReal ? "real" : "complex",
                     shape.emission == EmissionKind::kState ? "states" : "edges", shape.n, shape.s,
                     shape.w);
}

/// Columns of C to length one.
void normalise(KrausSet& set) {
  for (Index i = 0; i < set.latent_dim(); ++i)
    set.emission().col(i) /= set.emission().col(i).norm();
}

/// Of few symbols, which have operators of their own, and of many, which share one channel; small
/// and large; real and complex.
std::vector<Shape> state_shapes() {
  std::vector<Shape> out;
  for (const Field field : {Field::kComplex, Field::kReal})
    for (const Shape& shape : {Shape{2, 3, 2}, Shape{4, 3, 2}, Shape{5, 20, 2}, Shape{11, 5, 3}})
      out.push_back({shape.n, shape.s, shape.w, field, EmissionKind::kState});
  return out;
}

/// To the size of each symbol's own gradient: that of a rare one is larger by the inverse of its
/// amplitude.
void expect_every_symbol_as_naive(const Batch& batch) {
  testing::check_every_engine(
      batch, [&](const BatchGradient& found, const BatchGradient& expected) {
        testing::expect_same_scores(found, expected);
        testing::expect_close(found.sets[0], expected.sets[0], 1.0, "gradient by V");
        for (Index y = 0; y < batch.model.alphabet_size(); ++y) {
          const double amplitude = batch.model.sets[0].emission().row(y).cwiseAbs().maxCoeff();
          testing::expect_close(found.emissions[0].row(y).cast<Complex>(),
                                expected.emissions[0].row(y).cast<Complex>(), 1.0 / amplitude,
                                "gradient by a row of C");
        }
        testing::expect_same_initial_state(batch, found, expected, 1.0);
      });
}

TEST(Structured, RareSymbolsOnStatesAreWorkedThrough) {
  std::uint64_t index = 0;
  for (const Shape& shape : state_shapes()) {
    for (const double amplitude : {1e-5, 1e-20, 1e-60, 1e-120, 1e-150}) {
      RandomStream random(kStructuredSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = testing::random_hqmm(shape, random);
      KrausSet& set = batch.model.sets[0];
      normalise(set);
      set.emission().row(shape.s - 1) *= amplitude;
      batch.model.sets[0].emission().topRows(shape.s - 1).colwise().normalize();
      ASSERT_TRUE(is_feasible(batch.model));
      batch.options = {2, true, true};
      for (const std::size_t in_a_row : {1, 2, 20}) {
        auto sequences = testing::random_sequences({30, 40, 40}, shape.s - 1, random);
        for (std::size_t i = 0; i < in_a_row; ++i)
          sequences[1][10 + i] = static_cast<Symbol>(shape.s - 1);
        batch.set = testing::set_of(shape.s, sequences);
        SCOPED_TRACE(fmt::format("{} amplitude {}, {} of them", text(shape), amplitude, in_a_row));
        expect_every_symbol_as_naive(batch);
      }
    }
  }
}

/// States that cannot show a symbol, as in an HMM with zeros: ∂ by such an entry of C is not zero.
TEST(Structured, EntriesOfCMayBeZero) {
  std::uint64_t index = 1000;
  for (const Shape& shape : state_shapes()) {
    for (const double tiny : {0.0, 1e-170}) {
      RandomStream random(kStructuredSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = testing::random_hqmm(shape, random);
      KrausSet& set = batch.model.sets[0];
      for (Index i = 0; i < shape.n; ++i) set.emission()(i % shape.s, i) = tiny;
      normalise(set);
      batch.options = {0, true, true};
      batch.set = testing::set_of(
          shape.s, testing::random_sequences({20, 33, 17, 40, 5}, shape.s, random, 0.1));
      SCOPED_TRACE(fmt::format("{} zeros are {}", text(shape), tiny));
      testing::expect_every_engine_as_naive(batch);
    }
  }
}

void expect_place(const Batch& batch, std::size_t sequence, std::size_t position) {
  for (const EngineKind engine : testing::engines_for(batch)) {
    SCOPED_TRACE(name_of(engine));
    try {
      static_cast<void>(batch.gradient_by(engine));
      ADD_FAILURE() << "a gradient";
    } catch (const NotFiniteError& error) {
      EXPECT_EQ(error.place().sequence, sequence);
      EXPECT_EQ(error.place().position, position);
    }
  }
}

TEST(Structured, WhatCannotBeIsNamed) {
  std::uint64_t index = 2000;
  for (const Shape& shape : state_shapes()) {
    for (const double value : {0.0, 1e-160, std::numeric_limits<double>::quiet_NaN()}) {
      RandomStream random(kStructuredSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = testing::random_hqmm(shape, random);
      KrausSet& set = batch.model.sets[0];
      set.emission().row(shape.s - 1).setConstant(value);
      auto sequences = testing::random_sequences({30, 40, 40}, shape.s - 1, random);
      sequences[1][17] = sequences[2][3] = static_cast<Symbol>(shape.s - 1);
      batch.set = testing::set_of(shape.s, sequences);
      SCOPED_TRACE(fmt::format("{} of {}", text(shape), value));
      expect_place(batch, 1, 17);
      set.stack()(0, 0) = std::numeric_limits<double>::quiet_NaN();
      expect_place(batch, 0, 0);
    }
  }
}

/// Blocks of steps end inside the sequences, and words of two and three symbols do not come out
/// even.
TEST(Structured, EveryKindAgreesAcrossBlocks) {
  std::uint64_t index = 3000;
  for (const Shape& plain : {Shape{8, 2, 2}, Shape{8, 25, 2}, Shape{13, 3, 2}}) {
    for (const Shape& shape : testing::of_every_kind(plain)) {
      RandomStream random(kStructuredSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = testing::random_hqmm(shape, random);
      std::vector<std::size_t> lengths(34, 60);
      for (std::size_t i = 0; i < 20; ++i) lengths[i] = 10 + 5 * i;
      batch.set = testing::set_of(
          shape.s, testing::random_sequences(lengths, shape.s, random, index % 2 == 0 ? 0.1 : 0.0));
      for (const bool through : {true, false}) {
        batch.options = {32, through, true};
        SCOPED_TRACE(text(shape));
        testing::expect_every_engine_as_naive(batch);
      }
    }
  }
}

/// 32 MiB of states hold 60,000 steps at n = 11 and 260,000 at n = 4.
TEST(EngineRuns, MoreSymbolsThanASegmentHoldsOfStructuredModels) {
  std::uint64_t index = 4000;
  for (const Shape& shape : {Shape{11, 30, 2, Field::kReal, EmissionKind::kState},
                             Shape{4, 40, 2, Field::kComplex, EmissionKind::kState},
                             Shape{11, 3, 2, Field::kReal, EmissionKind::kEdge}}) {
    RandomStream random(kStructuredSeed, Purpose::kTest, ++index);
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    const std::size_t length = shape.n == 4 ? 300'000 : 90'000;
    batch.set = sample(batch.model, {1, length, kStructuredSeed, 0, 1});
    batch.options = {1000, true, true};
    SCOPED_TRACE(text(shape));
    testing::expect_same(batch, batch.gradient_by(EngineKind::kSuperoperator),
                         batch.gradient_by(EngineKind::kKraus));
  }
}

TEST(Structured, ManySymbolsShareOneChannel) {
  BatchShape shape{8, 2, 27};
  shape.field = Field::kReal;
  shape.sequences = 32;
  shape.symbols = 3200;
  shape.longest = 100;
  EXPECT_FALSE(choose(shape, EngineKind::kSuperoperator).shared) << "on edges there is none";
  shape.emission = EmissionKind::kState;
  EXPECT_TRUE(choose(shape, EngineKind::kSuperoperator).shared);
  EXPECT_EQ(choose(shape, EngineKind::kAuto).engine, EngineKind::kSuperoperator);
  EXPECT_FALSE(choose(shape, EngineKind::kKraus).shared);
  shape.s = 2;
  shape.symbols = 100'000;
  EXPECT_FALSE(choose(shape, EngineKind::kSuperoperator).shared);
  EXPECT_GT(choose(shape, EngineKind::kSuperoperator).word_length, 1);
  shape.n = 64;
  shape.s = 27;
  EXPECT_EQ(choose(shape, EngineKind::kAuto).engine, EngineKind::kKraus);
}

}  // namespace
}  // namespace hqmm::detail
