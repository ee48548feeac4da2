// The four kinds of HQMM: complex or real, emitting on edges or on states. A structured model is
// the model of its expanded operators, and says what that says.
#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/mixture.hpp"
#include "hqmm/model/smoothing.hpp"
#include "hqmm/model/state_gradient.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

using Anchor = PositionMap::Anchor;
constexpr std::uint64_t kStructureSeed = 161;

/// Stationary and position-dependent models of every kind.
std::vector<Hqmm> models_of_every_kind() {
  std::vector<Hqmm> out;
  for (const Shape& shape : {Shape{1, 3, 1}, Shape{2, 3, 1}, Shape{3, 2, 2}, Shape{4, 3, 3}}) {
    for (const Shape& kind : of_every_kind(shape)) {
      RandomStream random(kStructureSeed, Purpose::kTest, out.size());
      out.push_back(random_hqmm(kind, random));
      out.push_back(random_positional_hqmm(kind, Anchor::kStart, random));
      out.push_back(random_positional_hqmm(kind, Anchor::kEnd, random));
    }
  }
  return out;
}

double log_likelihood_of(const Hqmm& model, const std::vector<Symbol>& symbols) {
  HqmmFilter filter(model);
  const SequenceSet set(model.alphabet, {symbols});
  return log_likelihood(filter, set[0], 0).log_likelihood;
}

TEST(Structure, ProbabilitiesOfAllSequencesSumToOne) {
  for (const Hqmm& model : models_of_every_kind()) {
    ASSERT_NO_THROW(require_valid(model));
    ASSERT_LE(feasibility_residual(model), 1e-12);
    const double sum =
        sum_over_sequences(5, model.alphabet.size(), [&](const std::vector<Symbol>& symbols) {
          return std::exp(log_likelihood_of(model, symbols));
        });
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(Structure, FiltersAsTheDefinitionSays) {
  RandomStream random(kStructureSeed + 1, Purpose::kTest);
  for (Hqmm model : models_of_every_kind()) {
    for (const bool feasible : {true, false}) {
      if (!feasible) make_infeasible(model, random);
      const auto symbols = random_symbols(9, model.alphabet_size(), random, 0.2);
      const NaiveRun run = naive_run(model, symbols);
      HqmmFilter filter(model);
      filter.restart(symbols.size());
      for (std::size_t t = 0; t < symbols.size(); ++t) {
        const StepWeight weight = filter.step(symbols[t]);
        EXPECT_NEAR(weight.raw, static_cast<double>(run.raw[t]), 1e-12);
        EXPECT_NEAR(weight.total, static_cast<double>(run.total[t]), 1e-12);
      }
    }
  }
}

TEST(Structure, ExpansionIsTheSameProcess) {
  RandomStream random(kStructureSeed + 2, Purpose::kTest);
  for (Hqmm model : models_of_every_kind()) {
    make_infeasible(model, random);
    const Hqmm free = expanded(model);
    EXPECT_EQ(free.emits_on(), EmissionKind::kEdge);
    const Matrix rho = random_density_matrix(model.latent_dim(), random, model.field);
    for (std::size_t i = 0; i < model.sets.size(); ++i) {
      const KrausSet& set = model.sets[i];
      const KrausSet& plain = free.sets[i];
      for (Index y = 0; y < model.alphabet_size(); ++y) {
        EXPECT_LE(norm_distance(set.apply(y, rho), plain.apply(y, rho)), 1e-13);
        EXPECT_LE(norm_distance(set.apply_adjoint(y, rho), plain.apply_adjoint(y, rho)), 1e-13);
        EXPECT_LE(norm_distance(set.effect(y), plain.effect(y)), 1e-13);
      }
      EXPECT_LE(norm_distance(set.apply_total(rho), plain.apply_total(rho)), 1e-13);
      EXPECT_LE(norm_distance(set.apply_total_adjoint(rho), plain.apply_total_adjoint(rho)), 1e-13);
      EXPECT_LE(norm_distance(set.gram(), plain.gram()), 1e-13);
    }
  }
}

TEST(Structure, AdjointMapsAreAdjoint) {
  RandomStream random(kStructureSeed + 3, Purpose::kTest);
  for (const Shape& kind : of_every_kind({3, 2, 2})) {
    const KrausSet set = random_set(kind, random);
    const Matrix rho = random_density_matrix(3, random, kind.field);
    const Matrix effect = random_density_matrix(3, random, kind.field);
    const auto pairing = [](const Matrix& a, const Matrix& b) { return (a * b).trace().real(); };
    EXPECT_NEAR(pairing(effect, set.apply(1, rho)), pairing(set.apply_adjoint(1, effect), rho),
                1e-14);
    EXPECT_NEAR(pairing(effect, set.apply_total(rho)),
                pairing(set.apply_total_adjoint(effect), rho), 1e-14);
  }
}

TEST(Structure, PullingBackIsTheChainRule) {
  RandomStream random(kStructureSeed + 4, Purpose::kTest);
  for (const Field field : {Field::kComplex, Field::kReal}) {
    const KrausSet set = random_set({3, 4, 2, field, EmissionKind::kState}, random);
    const Stack gradient = gaussian(4 * 2 * 3, 3, random);
    const StateGradient by = pull_back_expansion(set, gradient);
    // ⟨gradient, expansion⟩ is linear in V and in C each
    const Stack v = gaussian(6, 3, random);
    const RealMatrix c = RealMatrix::Random(4, 3);
    EXPECT_NEAR(inner(by.transition, v),
                inner(gradient, KrausSet(v, set.emission()).expanded().gamma()), 1e-12);
    EXPECT_NEAR(by.emission.cwiseProduct(c).sum(),
                inner(gradient, KrausSet(set.transition(), c).expanded().gamma()), 1e-12);
  }
}

TEST(Structure, EmbedsHmmsThatEmitOnStates) {
  RandomStream random(kStructureSeed + 5, Purpose::kTest);
  const Hmm hmm = random_started_hmm(3, 4, random);
  for (const Hqmm& model :
       {embed_rank_one(hmm, EmissionKind::kState), embed_cyclic(hmm, EmissionKind::kState)}) {
    EXPECT_EQ(model.emits_on(), EmissionKind::kState);
    EXPECT_EQ(model.kraus_rank(), 3);
    EXPECT_LE(feasibility_residual(model), 1e-14);
    for (int k = 0; k < 10; ++k) {
      const auto symbols = random_symbols(6, 4, random, 0.1);
      EXPECT_NEAR(std::exp(log_likelihood_of(model, symbols)), naive_probability(hmm, symbols),
                  1e-14);
    }
  }
}

TEST(Structure, IsInspectedAsItsExpansion) {
  RandomStream random(kStructureSeed + 6, Purpose::kTest);
  for (const Shape& shape : {Shape{3, 4, 2}, Shape{20, 3, 2}}) {  // dense and by products
    for (const Shape& kind : of_every_kind(shape)) {
      const KrausSet set = random_set(kind, random);
      const KrausSet free = set.expanded();
      EXPECT_LE(norm_distance(channel_fixed_point(set).state, channel_fixed_point(free).state),
                1e-9);
      EXPECT_NEAR(channel_spectrum(set).mixing_rate, channel_spectrum(free).mixing_rate, 1e-8);
    }
  }
}

TEST(Structure, SmoothingAndMixingKeepProbabilities) {
  RandomStream random(kStructureSeed + 7, Purpose::kTest);
  for (const Shape& kind : of_every_kind({2, 3, 2})) {
    const Hqmm a = random_hqmm(kind, random);
    const Hqmm b = random_hqmm(kind, random);
    const std::vector<Hqmm> members{a, b};
    const Hqmm mixed = mixture(members, std::vector<double>{0.3, 0.7});
    const auto symbols = random_symbols(5, 3, random);
    EXPECT_NEAR(std::exp(log_likelihood_of(mixed, symbols)),
                0.3 * std::exp(log_likelihood_of(a, symbols)) +
                    0.7 * std::exp(log_likelihood_of(b, symbols)),
                1e-14);
    EXPECT_EQ(mixed.field, kind.field);
    EXPECT_EQ(components_of(mixed).members.size(), 2U);
    EXPECT_NEAR(log_likelihood_of(smoothed(a, 0.1), symbols),
                log_likelihood_of(smoothed(expanded(a), 0.1), symbols), 1e-12);
  }
}

TEST(Structure, ComponentsOfAStateModelEmitOnStates) {
  RandomStream random(kStructureSeed + 8, Purpose::kTest);
  const Hqmm part = random_hqmm({2, 3, 2, Field::kReal, EmissionKind::kState}, random);
  Stack v = Stack::Zero(2 * 4, 4);
  RealMatrix c(3, 4);
  for (Index q = 0; q < 2; ++q) {
    const auto block = part.sets[0].transition().middleRows(2 * q, 2);
    v.block(4 * q, 0, 2, 2) = block;
    v.block(4 * q + 2, 2, 2, 2) = block;
  }
  c << part.sets[0].emission(), part.sets[0].emission();
  const Hqmm twice = stationary_hqmm(part.alphabet, KrausSet(v, c), maximally_mixed(4), part.field);
  const Components parts = components_of(twice);
  ASSERT_EQ(parts.members.size(), 2U);
  for (const Hqmm& member : parts.members) {
    EXPECT_EQ(member.emits_on(), EmissionKind::kState);
    EXPECT_EQ(member.field, Field::kReal);
    EXPECT_LE(norm_distance(member.sets[0].transition(), part.sets[0].transition()), 0.0);
    EXPECT_LE(norm_distance(member.sets[0].emission(), part.sets[0].emission()), 0.0);
  }
}

TEST(Structure, RefusesWhatDoesNotFit) {
  RandomStream random(kStructureSeed + 9, Purpose::kTest);
  Hqmm real = random_hqmm({2, 3, 1, Field::kReal, EmissionKind::kState}, random);
  Hqmm with_imaginary = real;
  with_imaginary.sets[0].stack()(1, 0) += Complex(0.0, 1e-3);
  EXPECT_THROW(require_valid(with_imaginary), Error);
  Hqmm not_finite = real;
  not_finite.sets[0].emission()(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(require_valid(not_finite), Error);
  Hqmm mixed = real;
  mixed.sets.push_back(real.sets[0].expanded());
  EXPECT_THROW(require_valid(mixed), Error);
  EXPECT_THROW(static_cast<void>(real.sets[0].gamma()), std::logic_error);
  EXPECT_THROW(static_cast<void>(real.sets[0].expanded().emission()), std::logic_error);
}

}  // namespace
}  // namespace hqmm::detail::testing
