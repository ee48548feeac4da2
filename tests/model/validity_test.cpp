// require_valid names each flaw and its amount.
#include <gtest/gtest.h>

#include <limits>

#include "hqmm/core/error.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What require_valid says about a model after `spoil` has had its way with it; empty when it is
/// content.
template <typename Model, typename Spoil>
std::string complaint(Model model, Spoil spoil) {
  spoil(model);
  try {
    require_valid(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.message();
  }
  return {};
}

template <typename Spoil>
std::string hqmm_complaint(Spoil spoil) {
  return complaint(synthetic_hqmm(), spoil);
}

template <typename Spoil>
std::string hmm_complaint(Spoil spoil) {
  return complaint(synthetic_hmm(), spoil);
}

#define EXPECT_SAYS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << '"' << (text) << '"'

TEST(ValidHqmm, IsLeftInPeace) {
  EXPECT_EQ(hqmm_complaint([](Hqmm&) {}), "");
}

TEST(ValidHqmm, MayBeInfeasible) {
  EXPECT_EQ(hqmm_complaint([](Hqmm& m) { m.sets[0].gamma() *= 1.1; }), "");
}

TEST(InvalidHqmm, EntryThatIsNotFiniteIsNamed) {
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.sets[0].op(4, 0)(1, 0) = kNan; }), "kraus[4,0,1,0]");
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) {
                m.sets.push_back(m.sets[0]);
                m.positions = PositionMap({0, 1});
                m.sets[1].op(5, 0)(0, 1) = Complex(0.0, 1.0 / 0.0);
              }),
              "kraus[1,5,0,0,1]");
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.initial_state(1, 0) = kNan; }), "initial_state[1,0]");
}

TEST(InvalidHqmm, StateThatIsNotHermitianIsNamed) {
  const auto text = hqmm_complaint([](Hqmm& m) { m.initial_state(0, 1) = 0.25; });
  EXPECT_SAYS(text, "not Hermitian");
  EXPECT_SAYS(text, "0.354");  // √2 · 0.25
}

TEST(InvalidHqmm, WrongTraceIsNamed) {
  const auto text = hqmm_complaint([](Hqmm& m) { m.initial_state *= 1.5; });
  EXPECT_SAYS(text, "trace 1.5, expected 1");
}

TEST(InvalidHqmm, NegativeEigenvalueIsNamed) {
  const auto text = hqmm_complaint([](Hqmm& m) { m.initial_state << 1.25, 0.0, 0.0, -0.25; });
  EXPECT_SAYS(text, "negative eigenvalue -0.25");
}

TEST(InvalidHqmm, ShapesThatDoNotFitAreNamed) {
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.sets.clear(); }), "no Kraus operators");
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.sets = {KrausSet()}; }), "no Kraus operators");
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.initial_state = maximally_mixed(3); }),
              "3×3, expected 2×2");
  const auto text = hqmm_complaint([](Hqmm& m) { m.sets.emplace_back(6, 2, 2); });
  EXPECT_SAYS(text, "set 1");
  EXPECT_SAYS(text, "w = 2");
}

TEST(InvalidHqmm, AlphabetOfAnotherSizeIsNamed) {
  const auto text = hqmm_complaint([](Hqmm& m) { m.alphabet = Alphabet::dna(); });
  EXPECT_SAYS(text, "4 symbols");
  EXPECT_SAYS(text, "for 6");
}

TEST(InvalidHqmm, PositionMapBeyondTheSetsIsNamed) {
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.positions = PositionMap({0, 3}); }), "set 3");
  EXPECT_SAYS(hqmm_complaint([](Hqmm& m) { m.positions = PositionMap::each(0); }), "empty");
}

TEST(ValidHmm, IsLeftInPeace) {
  EXPECT_EQ(hmm_complaint([](Hmm&) {}), "");
}

TEST(InvalidHmm, EntryThatIsNotFiniteIsNamed) {
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.transition(2, 3) = kNan; }), "transition[2,3]");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.emission(5, 0) = kNan; }), "emission[5,0]");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.initial(4) = kNan; }), "initial[4");
}

TEST(InvalidHmm, NegativeEntryIsNamed) {
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.emission(1, 2) = -0.25; }), "emission[1,2] = -0.25");
}

TEST(InvalidHmm, ColumnSumIsNamed) {
  const auto text = hmm_complaint([](Hmm& m) { m.transition(0, 4) += 0.125; });
  EXPECT_SAYS(text, "column 4 of transition");
  EXPECT_SAYS(text, "1.125");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.initial *= 2.0; }), "initial sums to 2");
}

TEST(InvalidHmm, ShapesThatDoNotFitAreNamed) {
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.transition.resize(6, 5); }), "6×5");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.transition.resize(0, 0); }), "0×0");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.emission.resize(6, 5); }), "expected 6 columns");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.initial.resize(7); }), "7 entries, expected 6");
  EXPECT_SAYS(hmm_complaint([](Hmm& m) { m.alphabet = Alphabet::dna(); }), "4 symbols");
}

TEST(FeasibilityResidual, IsTheDistanceOfTheGramMatrixFromTheIdentity) {
  RandomStream random(41, Purpose::kTest);
  Hqmm model = random_hqmm({3, 2, 2}, random);
  EXPECT_LE(feasibility_residual(model), 1e-14);
  EXPECT_TRUE(is_feasible(model));
  model.sets.push_back(model.sets[0]);
  model.sets[1].gamma() *= 2.0;  // Γ†Γ = 4 I
  EXPECT_NEAR(feasibility_residual(model), 3.0 * std::sqrt(3.0), 1e-12);
  EXPECT_FALSE(is_feasible(model));
}

TEST(FeasibilityResidual, OfAnHmmIsItsWorstColumn) {
  Hmm hmm = synthetic_hmm();
  EXPECT_LE(feasibility_residual(hmm), 1e-15);
  hmm.emission(0, 3) += 0.01;
  EXPECT_NEAR(feasibility_residual(hmm), 0.01, 1e-15);
}

}  // namespace
}  // namespace hqmm::detail::testing
