// The fast likelihoods against the filters, which go symbol by symbol.
#include "hqmm/engine/likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/model/mixture.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::Shape;

void expect_same(const SequenceLikelihood& found, const SequenceLikelihood& expected) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_EQ(found.impossible_at, expected.impossible_at);
  if (std::isinf(expected.log_likelihood)) {
    EXPECT_EQ(found.log_likelihood, expected.log_likelihood);
    return;
  }
  const double scale = 1e-12 * (1.0 + std::abs(expected.log_likelihood));
  EXPECT_NEAR(found.log_likelihood, expected.log_likelihood, scale);
  EXPECT_NEAR(found.raw_log_likelihood, expected.raw_log_likelihood, scale);
}

void expect_like_the_filter(const AnyModel& model, const SequenceSet& set, std::size_t burn_in) {
  const auto expected = log_likelihoods(model, set, burn_in, 1);
  const auto found = fast_log_likelihoods(model, set, burn_in, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("sequence " + std::to_string(i));
    expect_same(found[i], expected[i]);
  }
  const auto threaded = fast_log_likelihoods(model, set, burn_in, 3);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(threaded[i].log_likelihood, found[i].log_likelihood);
}

SequenceSet ragged(Index s, RandomStream& random, double missing_share) {
  std::vector<std::vector<Symbol>> sequences;
  for (const std::size_t length : {0, 1, 2, 15, 16, 17, 48, 49, 200, 333, 3})
    sequences.push_back(testing::random_symbols(length, s, random, missing_share));
  return {Alphabet::integers(static_cast<std::size_t>(s)), sequences};
}

TEST(FastLikelihood, AgreesWithTheFilterOnRandomShapes) {
  RandomStream random(17, Purpose::kTest, 701);
  for (const Shape& shape : {Shape{1, 2, 1},
                             {2, 3, 1},
                             {2, 4, 3},
                             {3, 20, 1},
                             {4, 5, 2},
                             {5, 2, 6},
                             {9, 4, 1},
                             {13, 3, 2},
                             {20, 2, 1},
                             {4, 3, 2, Field::kReal, EmissionKind::kEdge},
                             {13, 3, 2, Field::kReal, EmissionKind::kEdge},
                             {5, 20, 2, Field::kReal, EmissionKind::kState},
                             {14, 5, 2, Field::kReal, EmissionKind::kState},
                             {3, 3, 2, Field::kComplex, EmissionKind::kState},
                             {12, 20, 2, Field::kComplex, EmissionKind::kState}}) {
    for (const double missing : {0.0, 0.15}) {
      for (const std::size_t burn_in : {0, 7, 16}) {
        SCOPED_TRACE("n=" + std::to_string(shape.n) + " s=" + std::to_string(shape.s) +
                     " w=" + std::to_string(shape.w));
        const SequenceSet set = ragged(shape.s, random, missing);
        Hqmm model = testing::random_hqmm(shape, random);
        expect_like_the_filter(model, set, burn_in);
        testing::make_infeasible(model, random);
        expect_like_the_filter(model, set, burn_in);
        expect_like_the_filter(
            testing::random_positional_hqmm(shape, PositionMap::Anchor::kEnd, random), set,
            burn_in);
      }
    }
  }
}

TEST(FastLikelihood, LongSequencesGoInSlices) {
  RandomStream random(18, Purpose::kTest, 702);
  for (const Shape& shape :
       {Shape{2, 3, 1}, {2, 3, 2}, {3, 3, 2, Field::kReal, EmissionKind::kState}}) {
    const Hqmm model = testing::random_hqmm(shape, random);
    const SequenceSet set(
        Alphabet::integers(3),
        {testing::random_symbols(10, 3, random, 0.0),
         testing::random_symbols((std::size_t{1} << 20) + 700'001, 3, random, 0.0)});
    expect_like_the_filter(model, set, 1000);
  }
}

/// Symbol 1 is seen in the second state only, and the first is never left.
Hqmm one_way(double leak) {
  KrausSet set(2, 1, 2);
  set.op(0, 0) << std::sqrt(1.0 - leak * leak), 0.0, 0.0, 0.0;
  set.op(1, 0) << leak, 0.0, 0.0, 1.0;
  Matrix rho = Matrix::Zero(2, 2);
  rho(0, 0) = 1.0;
  return stationary_hqmm(Alphabet::integers(2), std::move(set), rho);
}

TEST(FastLikelihood, KnowsWhatIsImpossibleAndWhatIsOnlyUnlikely) {
  std::vector<Symbol> symbols(100, 0);
  symbols[60] = 1;
  const SequenceSet set(Alphabet::integers(2), {{0, 0, 0}, symbols, {1, 0}, {0, 1, kMissing, 0}});
  expect_like_the_filter(one_way(0.0), set, 0);
  for (const double leak : {1e-3, 1e-5, 1e-40, 1e-140}) {
    SCOPED_TRACE(leak);
    expect_like_the_filter(one_way(leak), set, 0);
  }
}

TEST(FastLikelihood, RefusesSymbolsTheModelDoesNotHave) {
  RandomStream random(19, Purpose::kTest, 703);
  const Hqmm model = testing::random_hqmm({2, 3, 1}, random);
  const SequenceSet set(Alphabet::integers(3), {{0, 1}, {2, 3}});
  testing::expect_error(ErrorCode::kBadData, "symbol 1 of sequence 1",
                        [&] { static_cast<void>(fast_log_likelihoods(model, set, 0, 1)); });
}

TEST(FastLikelihood, OfAMixtureIsThatOfTheWholeModel) {
  RandomStream random(17, Purpose::kTest, 720);
  const auto anchor = PositionMap::Anchor::kEnd;
  std::vector<Hqmm> members = {testing::random_positional_hqmm({2, 3, 2}, anchor, random),
                               testing::random_positional_hqmm({3, 3, 1}, anchor, random)};
  // the first symbol is impossible for one member, the second for the other, at one position
  for (KrausSet& set : members[0].sets) set = KrausSet(3, 1, 2);
  for (KrausSet& set : members[0].sets) set.op(1, 0) = Matrix::Identity(2, 2);
  for (const std::size_t burn_in : {0, 5}) {
    SequenceSet set = ragged(3, random, 0.2);
    set.append(SequenceSet(set.alphabet(), {{1, 1, 1, 1}})[0]);
    expect_like_the_filter(mixture(members, std::vector<double>{0.25, 0.75}), set, burn_in);
  }
  for (KrausSet& kraus : members[1].sets) kraus = KrausSet(3, 1, 3);
  for (KrausSet& kraus : members[1].sets) kraus.op(2, 0) = Matrix::Identity(3, 3);
  const SequenceSet set(Alphabet::integers(3), {{1, 1, 2, 1}, {2, 2, 2, 1}, {0}, {1, 1}, {}});
  expect_like_the_filter(mixture(members, std::vector<double>{0.25, 0.75}), set, 0);
}

}  // namespace
}  // namespace hqmm::detail
