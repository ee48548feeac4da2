// What channels are made of: blocks and cycles that were put in come out again, in any basis.
#include "hqmm/model/channel_structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hqmm/model/embedding.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kExact = 1e-7;

ChannelStructure structure_of(const KrausSet& set) {
  const auto found = channel_structure(set, channel_fixed_point(set));
  EXPECT_TRUE(found.has_value());
  return found.value_or(ChannelStructure{});
}

/// K ↦ U K U† of a set that emits on edges.
KrausSet turned(const KrausSet& set, const Matrix& unitary) {
  KrausSet out = set;
  for (Index y = 0; y < set.alphabet_size(); ++y) {
    for (Index q = 0; q < set.kraus_rank(); ++q)
      out.op(y, q) = unitary * set.op(y, q) * unitary.adjoint();
  }
  return out;
}

Matrix random_unitary(Index n, RandomStream& random) { return feasible(n, n, random); }

/// Blocks side by side: of period p and part dimension m each, parts moved in turn by random
/// isometries (two operators: a part is mixed as it moves).
struct Made {
  Index period, part;
};
KrausSet blocks(const std::vector<Made>& made, RandomStream& random) {
  Index n = 0;
  for (const Made& one : made) n += one.period * one.part;
  KrausSet out(2, 1, n);
  Index at = 0;
  for (const Made& one : made) {
    for (Index k = 0; k < one.period; ++k) {
      const Index from = at + k * one.part;
      const Index to = at + (k + 1) % one.period * one.part;
      const KrausSet move = random_kraus(2, 1, one.part, random);
      for (Index y = 0; y < 2; ++y)
        out.op(y, 0).block(to, from, one.part, one.part) = move.op(y, 0);
    }
    at += one.period * one.part;
  }
  return out;
}

std::vector<std::pair<Index, std::size_t>> sizes_of(const ChannelStructure& found) {
  std::vector<std::pair<Index, std::size_t>> out;
  for (const RecurrentBlock& block : found.blocks)
    out.emplace_back(block.basis.cols(), block.cycle.size());
  std::sort(out.begin(), out.end());
  return out;
}

/// How far the channel takes the states of one subspace out of another.
double leak(const KrausSet& set, const Matrix& from, const Matrix& to) {
  const double d = static_cast<double>(from.cols());
  const Matrix moved = set.apply_total(from * from.adjoint() / d);
  return 1.0 - (to.adjoint() * moved * to).trace().real();
}

void expect_sound(const KrausSet& set, const ChannelStructure& found) {
  Index dimensions = found.transient;
  for (const RecurrentBlock& block : found.blocks) {
    const Index d = block.basis.cols();
    dimensions += d;
    EXPECT_LE(norm_distance(Matrix(block.basis.adjoint() * block.basis), Matrix::Identity(d, d)),
              kExact);
    EXPECT_LE(leak(set, block.basis, block.basis), kExact);
    Matrix sum = Matrix::Zero(set.latent_dim(), set.latent_dim());
    for (std::size_t k = 0; k < block.cycle.size(); ++k) {
      EXPECT_LE(leak(set, block.cycle[k], block.cycle[(k + 1) % block.cycle.size()]), kExact);
      sum += block.cycle[k] * block.cycle[k].adjoint();
    }
    EXPECT_LE(norm_distance(sum, Matrix(block.basis * block.basis.adjoint())), kExact);
  }
  EXPECT_EQ(dimensions, set.latent_dim());
}

TEST(ChannelStructure, BlocksAndPeriodsComeOutInAnyBasis) {
  RandomStream random(221, Purpose::kTest);
  const std::vector<std::vector<Made>> cases{{{1, 3}},         {{3, 1}},         {{2, 2}},
                                             {{3, 2}},         {{1, 2}, {1, 3}}, {{3, 1}, {1, 2}},
                                             {{2, 2}, {3, 1}}, {{2, 1}, {2, 2}}};
  for (const auto& made : cases) {
    std::vector<std::pair<Index, std::size_t>> expected;
    Index n = 0;
    for (const Made& one : made) {
      expected.emplace_back(one.period * one.part, one.period);
      n += one.period * one.part;
    }
    std::sort(expected.begin(), expected.end());
    const KrausSet plain = blocks(made, random);
    for (const KrausSet& set : {plain, turned(plain, random_unitary(n, random))}) {
      const ChannelStructure found = structure_of(set);
      EXPECT_EQ(sizes_of(found), expected);
      EXPECT_EQ(found.transient, 0);
      EXPECT_TRUE(found.unique);
      expect_sound(set, found);
      for (const RecurrentBlock& block : found.blocks)  // I/n gives each its share of dimensions
        EXPECT_NEAR(block.weight, static_cast<double>(block.basis.cols()) / static_cast<double>(n),
                    kExact);
    }
  }
}

TEST(ChannelStructure, RandomChannelsAreOneBlock) {
  RandomStream random(222, Purpose::kTest);
  for (const Shape& shape : of_every_kind({.n = 4, .s = 2, .w = 2})) {
    const KrausSet set = random_set(shape, random);
    const ChannelStructure found = structure_of(set);
    EXPECT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{4, 1}}));
    EXPECT_EQ(found.transient + found.lasting_coherences, 0);
    expect_sound(set, found);
  }
}

/// The excited state decays into two states that take turns.
TEST(ChannelStructure, WhatIsLeftForGoodIsTransient) {
  RandomStream random(223, Purpose::kTest);
  KrausSet set(2, 2, 3);
  set.op(0, 0)(1, 0) = 1.0;
  set.op(0, 1)(0, 1) = 1.0;
  set.op(1, 0)(0, 2) = std::sqrt(0.3);
  set.op(1, 1)(2, 2) = std::sqrt(0.7);
  for (const KrausSet& one : {set, turned(set, random_unitary(3, random))}) {
    const ChannelStructure found = structure_of(one);
    EXPECT_EQ(found.transient, 1);
    EXPECT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{2, 2}}));
    EXPECT_NEAR(found.blocks[0].weight, 1.0, kExact);
    expect_sound(one, found);
  }
}

/// Two copies of a qubit channel keep the superpositions of one copy with the other: any mixture of
/// the copies is never left either.
TEST(ChannelStructure, EqualBlocksAreSaidToBe) {
  RandomStream random(224, Purpose::kTest);
  const KrausSet one = random_kraus(2, 1, 2, random);
  KrausSet two(2, 1, 4);
  for (Index y = 0; y < 2; ++y) {
    two.op(y, 0).topLeftCorner(2, 2) = one.op(y, 0);
    two.op(y, 0).bottomRightCorner(2, 2) = one.op(y, 0);
  }
  const KrausSet set = turned(two, random_unitary(4, random));
  const ChannelStructure found = structure_of(set);
  EXPECT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{2, 1}, {2, 1}}));
  EXPECT_FALSE(found.unique);
  EXPECT_EQ(found.lasting_coherences, 2);
  expect_sound(set, found);
}

TEST(ChannelStructure, AUnitaryKeepsItsEigenvectorsAndTheirCoherences) {
  KrausSet turn(1, 1, 2);  // by an angle that no number of steps brings back
  turn.op(0, 0) << std::cos(1.0), -std::sin(1.0), std::sin(1.0), std::cos(1.0);
  const ChannelStructure found = structure_of(turn);
  EXPECT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{1, 1}, {1, 1}}));
  EXPECT_TRUE(found.unique);
  EXPECT_EQ(found.lasting_coherences, 2);
  expect_sound(turn, found);
}

/// 0 → 1 → 2 → 0, and 3 ⇄ {4, 5}; 6 leads to all.
RealMatrix chain() {
  RealMatrix out = RealMatrix::Zero(7, 7);
  out(1, 0) = out(2, 1) = out(0, 2) = out(3, 4) = out(3, 5) = 1.0;
  out(4, 3) = 0.25;
  out(5, 3) = 0.75;
  out.col(6).setConstant(1.0 / 7.0);
  return out;
}

TEST(ChannelStructure, OfChainsIsTheirClasses) {
  const ChainStructure found = chain_structure(chain());
  EXPECT_EQ(found.transient, (std::vector<Index>{6}));
  ASSERT_EQ(found.classes.size(), 2U);
  EXPECT_EQ(found.classes[0].cycle, (std::vector<std::vector<Index>>{{0}, {1}, {2}}));
  EXPECT_EQ(found.classes[1].states, (std::vector<Index>{3, 4, 5}));
  EXPECT_EQ(found.classes[1].cycle, (std::vector<std::vector<Index>>{{3}, {4, 5}}));
  const ChainStructure whole = chain_structure(synthetic_hmm().transition);
  EXPECT_TRUE(whole.transient.empty());
  ASSERT_EQ(whole.classes.size(), 1U);
  EXPECT_EQ(whole.classes[0].cycle.size(), 1U);
}

/// A chain that only leads on, to the last of its states.
TEST(ChannelStructure, AChainThatOnlyLeadsOnEndsInItsLastState) {
  const Index n = 300;
  RealMatrix steps = RealMatrix::Zero(n, n);
  for (Index j = 0; j < n; ++j) steps(std::min(j + 1, n - 1), j) = 1.0;
  const ChainStructure found = chain_structure(steps);
  EXPECT_EQ(found.transient.size(), static_cast<std::size_t>(n - 1));
  ASSERT_EQ(found.classes.size(), 1U);
  EXPECT_EQ(found.classes[0].states, (std::vector<Index>{n - 1}));
}

/// Every move an operator of its own: what is seen of the chain is the chain.
KrausSet as_channel(const RealMatrix& transition) {
  const Index n = transition.rows();
  KrausSet out(n, n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) out.op(i, j)(i, j) = std::sqrt(transition(i, j));
  }
  return out;
}

TEST(ChannelStructure, OfAChainAsAChannelIsThatOfTheChain) {
  const KrausSet set = as_channel(chain());
  const ChannelStructure found = structure_of(set);
  EXPECT_EQ(found.transient, 1);
  ASSERT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{3, 2}, {3, 3}}));
  EXPECT_EQ(found.blocks[0].cycle.size(), 3U);  // the first states come first
  for (Index k = 0; k < 3; ++k)
    EXPECT_NEAR(found.blocks[0].cycle[static_cast<std::size_t>(k)].row(k).norm(), 1.0, kExact);
  expect_sound(set, found);
}

/// Embedded, 3 leads to one superposition of 4 and 5: the block is smaller, the periods stay.
TEST(ChannelStructure, OfAnEmbeddedChainHasItsPeriods) {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(2);
  hmm.transition = chain();
  hmm.emission = RealMatrix::Constant(2, 7, 0.5);
  hmm.initial = RealVector::Constant(7, 1.0 / 7.0);
  for (const EmissionKind emission : {EmissionKind::kEdge, EmissionKind::kState}) {
    const KrausSet set = embed_rank_one(hmm, emission).sets[0];
    const ChannelStructure found = structure_of(set);
    EXPECT_EQ(found.transient, 2);
    EXPECT_EQ(sizes_of(found), (std::vector<std::pair<Index, std::size_t>>{{2, 2}, {3, 3}}));
    expect_sound(set, found);
  }
}

TEST(ChannelStructure, ChoiRanksCountIndependentOperators) {
  RandomStream random(225, Purpose::kTest);
  for (const Shape& shape : of_every_kind({.n = 3, .s = 3, .w = 2})) {
    const auto found = choi_ranks(random_set(shape, random));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->of_symbol, (std::vector<Index>{2, 2, 2}));
    EXPECT_EQ(found->of_channel, 6);
  }
  KrausSet set = random_kraus(3, 2, 2, random);  // six operators on a qubit: four at most
  EXPECT_EQ(choi_ranks(set)->of_channel, 4);
  set.op(1, 1) = Complex(0.0, 2.0) * set.op(1, 0);
  set.op(2, 0).setZero();
  set.op(2, 1).setZero();
  EXPECT_EQ(choi_ranks(set)->of_symbol, (std::vector<Index>{2, 1, 0}));
}

TEST(ChannelStructure, UnitalityIsWhatTheUnitStateMovesBy) {
  EXPECT_LE(unitality_residual(synthetic_hqmm().sets[0]), 1e-12);
  KrausSet decay(1, 2, 2);  // everything to the ground state: T(I) = 2|0⟩⟨0|
  decay.op(0, 0)(0, 0) = 1.0;
  decay.op(0, 1)(0, 1) = 1.0;
  EXPECT_NEAR(unitality_residual(decay), std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(unitality_residual(RealMatrix(chain())),
              (chain().rowwise().sum() - RealVector::Ones(7)).norm(), 1e-12);
}

TEST(ChannelStructure, LargeAndInfeasibleChannelsHaveNone) {
  RandomStream random(226, Purpose::kTest);
  const KrausSet large = random_kraus(2, 1, kStructureUpTo + 1, random);
  EXPECT_FALSE(channel_structure(large, {maximally_mixed(kStructureUpTo + 1), 0.0}));
  KrausSet infeasible = random_kraus(2, 1, 2, random);
  infeasible.stack() *= 1.1;
  EXPECT_FALSE(channel_structure(infeasible, channel_fixed_point(infeasible)));
  EXPECT_FALSE(choi_ranks(KrausSet(16, 64, 32)));
}

}  // namespace
}  // namespace hqmm::detail::testing
