// Fixed points and spectra of channels.
#include "hqmm/model/channel.hpp"

#include <gtest/gtest.h>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/error.hpp"
#include "hqmm/core/krylov.hpp"
#include "hqmm/model/embedding.hpp"
#include "hqmm/model/hermitian_basis.hpp"
#include "hqmm/model/period.hpp"
#include "hqmm/model/random_models.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/model/total_channel.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

/// Distance of z from the nearest of the values.
double distance_to(const std::vector<Complex>& values, Complex z) {
  double least = std::numeric_limits<double>::infinity();
  for (const Complex value : values) least = std::min(least, std::abs(value - z));
  return least;
}

/// Two channels side by side on a + b dimensions: whatever weight each sector has, it keeps.
KrausSet two_sectors(Index a, Index b, RandomStream& random) {
  const KrausSet first = random_kraus(2, 2, a, random);
  const KrausSet second = random_kraus(2, 2, b, random);
  KrausSet out(2, 2, a + b);
  for (Index y = 0; y < 2; ++y) {
    for (Index q = 0; q < 2; ++q) {
      out.op(y, q).topLeftCorner(a, a) = first.op(y, q);
      out.op(y, q).bottomRightCorner(b, b) = second.op(y, q);
    }
  }
  return out;
}

/// Three states visited in turn.
Hmm turning_hmm() {
  Hmm hmm;
  hmm.alphabet = Alphabet::integers(2);
  hmm.transition.resize(3, 3);
  hmm.transition << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  hmm.emission.resize(2, 3);
  hmm.emission << 0.9, 0.5, 0.2, 0.1, 0.5, 0.8;
  hmm.initial = RealVector::Constant(3, 1.0 / 3.0);
  return hmm;
}

TEST(FixedPoint, OfRandomChannelsIsAStateThatStays) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    RandomStream random(61, Purpose::kTest, i);
    const Index n = 1 + static_cast<Index>(random.below(6));
    const KrausSet set = random_kraus(2, 1 + static_cast<Index>(random.below(2)), n, random);
    const FixedPoint found = channel_fixed_point(set);
    EXPECT_LE(found.residual, 1e-12);
    EXPECT_LE(norm_distance(set.apply_total(found.state), found.state), 1e-12);
    EXPECT_NEAR(found.state.trace().real(), 1.0, 1e-13);
    EXPECT_GE(least_eigenvalue(found.state), -1e-13);
  }
}

TEST(FixedPoint, OfAnHmmIsItsStationaryDistribution) {
  const Hmm hmm = synthetic_hmm();
  const FixedPoint found = channel_fixed_point(hmm);
  const RealVector x = found.state.diagonal().real();
  EXPECT_LE(norm_distance(RealVector(hmm.transition * x), x), 1e-14);
  EXPECT_NEAR(x.sum(), 1.0, 1e-14);
  EXPECT_GE(x.minCoeff(), 0.0);
  EXPECT_LE(norm_distance(channel_fixed_point(embed_cyclic(hmm).sets[0]).state, found.state),
            1e-12);
}

TEST(FixedPoint, OfALargeChannelThatMixesSlowlyIsFound) {
  RandomStream random(62, Purpose::kTest);
  const KrausSet fast = random_kraus(2, 1, 17, random);
  KrausSet slow(3, 1, 17);  // stays put with probability 0.9975
  for (Index y = 0; y < 2; ++y) slow.op(y, 0) = 0.05 * fast.op(y, 0);
  slow.op(2, 0) = std::sqrt(0.9975) * Matrix::Identity(17, 17);
  const FixedPoint found = channel_fixed_point(slow);
  EXPECT_LE(found.residual, 1e-12);
  EXPECT_LE(norm_distance(found.state, channel_fixed_point(fast).state), 1e-10);
  EXPECT_GE(least_eigenvalue(found.state), -1e-12);
}

// I/n gives each sector its share of the dimensions, and the channel moves nothing between them.
TEST(FixedPoint, OfTwoSectorsIsTheOneThatTheMixedStateGoesTo) {
  RandomStream random(63, Purpose::kTest);
  for (const auto& [a, b] : {std::pair<Index, Index>{2, 3}, {8, 9}}) {
    const FixedPoint found = channel_fixed_point(two_sectors(a, b, random));
    EXPECT_LE(found.residual, 1e-12);
    const double share = found.state.topLeftCorner(a, a).trace().real();
    EXPECT_NEAR(share, static_cast<double>(a) / static_cast<double>(a + b), 1e-10);
  }
}

TEST(Spectrum, OfAFeasibleChannelStartsWithOne) {
  RandomStream random(64, Purpose::kTest);
  const Spectrum found = channel_spectrum(random_kraus(3, 2, 3, random), 9);
  ASSERT_EQ(found.eigenvalues.size(), 9U);
  EXPECT_LE(std::abs(found.eigenvalues[0] - 1.0), 1e-12);
  EXPECT_TRUE(found.unique_fixed_point);
  EXPECT_LT(found.mixing_rate, 1.0);
  EXPECT_EQ(found.mixing_rate, std::abs(found.eigenvalues[1]));
  for (std::size_t i = 1; i < 9; ++i) {
    EXPECT_LE(std::abs(found.eigenvalues[i]), std::abs(found.eigenvalues[i - 1]) + 1e-10);
  }
}

TEST(Spectrum, OfAnEmbeddedHmmHoldsThatOfTheHmm) {
  RandomStream random(65, Purpose::kTest);
  for (const Hmm& hmm : {synthetic_hmm(), random_started_hmm(3, 4, random), turning_hmm()}) {
    const Spectrum classical = channel_spectrum(hmm);
    for (const Hqmm& embedded : {embed_rank_one(hmm), embed_cyclic(hmm)}) {
      const Spectrum quantum = channel_spectrum(embedded.sets[0], 36);
      for (const Complex value : classical.eigenvalues) {
        EXPECT_LE(distance_to(quantum.eigenvalues, value), 1e-10);
      }
    }
  }
}

TEST(Spectrum, OfThreeStatesInTurnHasPeriodThree) {
  const Spectrum found = channel_spectrum(turning_hmm());
  ASSERT_EQ(found.eigenvalues.size(), 3U);
  EXPECT_LE(std::abs(found.eigenvalues[0] - 1.0), 1e-12);
  EXPECT_EQ(period_of(found.eigenvalues[0]), std::numeric_limits<double>::infinity());
  for (const std::size_t i : {1, 2}) {
    EXPECT_NEAR(std::abs(found.eigenvalues[i]), 1.0, 1e-12);
    EXPECT_NEAR(period_of(found.eigenvalues[i]), 3.0, 1e-9);
  }
  EXPECT_NEAR(found.mixing_rate, 1.0, 1e-12);
  EXPECT_TRUE(found.unique_fixed_point);
  const Spectrum embedded = channel_spectrum(embed_rank_one(turning_hmm()).sets[0]);
  EXPECT_NEAR(period_of(embedded.eigenvalues[1]), 3.0, 1e-9);
  EXPECT_NEAR(embedded.mixing_rate, 1.0, 1e-12);
  EXPECT_TRUE(embedded.unique_fixed_point);
  EXPECT_LE(channel_fixed_point(turning_hmm()).residual, 1e-14);
}

TEST(Spectrum, OfTwoSectorsHasNoUniqueFixedPoint) {
  RandomStream random(66, Purpose::kTest);
  for (const auto& [a, b] : {std::pair<Index, Index>{1, 2}, {3, 3}, {8, 9}, {1, 16}}) {
    const Spectrum found = channel_spectrum(two_sectors(a, b, random), 3);
    EXPECT_FALSE(found.unique_fixed_point);
    EXPECT_NEAR(found.mixing_rate, 1.0, 1e-9);
  }
}

TEST(Spectrum, OfALargeChannelAgreesWithTheDenseSolver) {
  RandomStream random(67, Purpose::kTest);
  const KrausSet set = random_kraus(2, 2, 17, random);
  Hmm dense;  // of which only the transition matrix counts
  dense.transition = total_channel_matrix(set);
  const std::vector<Complex> expected =
      channel_spectrum(dense, static_cast<std::size_t>(dense.transition.rows())).eigenvalues;
  ASSERT_EQ(expected.size(), 289U);
  Complex sum = 0.0;
  Complex squares = 0.0;
  for (const Complex value : expected) sum += value;
  for (const Complex value : expected) squares += value * value;
  EXPECT_LE(std::abs(sum - dense.transition.trace()), 1e-9);
  const RealMatrix transposed = dense.transition.transpose();
  EXPECT_LE(std::abs(squares - dense.transition.cwiseProduct(transposed).sum()), 1e-9);
  const Spectrum found = channel_spectrum(set, 6);
  ASSERT_EQ(found.eigenvalues.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(std::abs(found.eigenvalues[i]), std::abs(expected[i]), 1e-9);
    EXPECT_LE(distance_to(expected, found.eigenvalues[i]), 1e-9);
  }
  EXPECT_NEAR(found.mixing_rate, std::abs(expected[1]), 1e-9);
  EXPECT_TRUE(found.unique_fixed_point);
}

TEST(Spectrum, OfALargeChannelGivesAsManyEigenvaluesAsThereAre) {
  RandomStream random(68, Purpose::kTest);
  EXPECT_GT(channel_spectrum(random_kraus(2, 1, 17, random), 100000).eigenvalues.size(), 280U);
}

TEST(Channel, OfAnInfeasibleModelIsNormalised) {
  RandomStream random(69, Purpose::kTest);
  for (const Index n : {3, 17}) {
    KrausSet set = random_kraus(2, 1, n, random);
    const Spectrum expected = channel_spectrum(set, 4);
    const FixedPoint fixed = channel_fixed_point(set);
    for (const double c : {1e-6, 0.9, 1.3, 1e5}) {
      KrausSet scaled = set;
      scaled.gamma() *= c;
      const Spectrum found = channel_spectrum(scaled, 4);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_LE(distance_to(expected.eigenvalues, found.eigenvalues[i]), 1e-9) << "c = " << c;
      }
      EXPECT_NEAR(found.mixing_rate, expected.mixing_rate, 1e-9);
      EXPECT_LE(norm_distance(channel_fixed_point(scaled).state, fixed.state), 1e-11)
          << "c = " << c;
    }
  }
}

TEST(Channel, OfAnInfeasibleModelHasAFixedPointUpToScale) {
  RandomStream random(70, Purpose::kTest);
  Hqmm model = random_hqmm({3, 2, 2}, random);
  make_infeasible(model, random);
  const FixedPoint found = channel_fixed_point(model.sets[0]);
  const Matrix next = model.sets[0].apply_total(found.state);
  EXPECT_LE(norm_distance(Matrix(next / next.trace().real()), found.state), 1e-12);
  EXPECT_LE(std::abs(channel_spectrum(model.sets[0]).eigenvalues[0] - 1.0), 1e-12);
}

TEST(Channel, ThatAnnihilatesEverythingIsAnError) {
  KrausSet nilpotent(1, 1, 2);
  nilpotent.op(0, 0)(0, 1) = 1.0;
  for (const KrausSet& set : {KrausSet(2, 1, 2), KrausSet(2, 1, 17), nilpotent}) {
    EXPECT_THROW((void)channel_spectrum(set), Error);
    EXPECT_THROW((void)channel_fixed_point(set), Error);
  }
}

TEST(Channel, OfAnInfeasibleStateModelIsNormalised) {
  RandomStream random(73, Purpose::kTest);
  const KrausSet set = random_state_kraus(3, 2, 3, random);
  const Spectrum expected = channel_spectrum(set, 4);
  const FixedPoint fixed = channel_fixed_point(set);
  for (const double c : {1e-9, 0.9, 1e5}) {
    KrausSet scaled = set;
    scaled.emission() *= c;
    EXPECT_NEAR(channel_spectrum(scaled, 4).mixing_rate, expected.mixing_rate, 1e-9);
    EXPECT_LE(norm_distance(channel_fixed_point(scaled).state, fixed.state), 1e-11) << "c = " << c;
    scaled.emission().setZero();
    EXPECT_THROW((void)channel_fixed_point(scaled), Error);
  }
}

/// A rotation keeps the skew matrix that no real state has a part of.
TEST(Spectrum, OfARealModelIsThatOnRealStates) {
  constexpr double kAngle = 0.7;
  Stack rotation(2, 2);
  rotation << std::cos(kAngle), -std::sin(kAngle), std::sin(kAngle), std::cos(kAngle);
  const KrausSet set(1, 1, rotation);
  const Spectrum real = channel_spectrum(set, 8, nullptr, Field::kReal);
  ASSERT_EQ(real.eigenvalues.size(), 3U);
  EXPECT_TRUE(real.unique_fixed_point);
  EXPECT_LE(distance_to(real.eigenvalues, std::polar(1.0, 2.0 * kAngle)), 1e-12);
  EXPECT_FALSE(channel_spectrum(set).unique_fixed_point);
}

TEST(Spectrum, OfALargeRealModelIsThatOnRealStates) {
  constexpr Index n = 23, coordinates = n * (n + 1) / 2;
  RandomStream random(74, Purpose::kTest);
  const KrausSet set = random_state_kraus(3, 2, n, random, Field::kReal);
  const Spectrum found = channel_spectrum(set, 8, nullptr, Field::kReal);
  EXPECT_TRUE(found.converged);
  const auto all = eigenvalues(total_channel_matrix(set).topLeftCorner(coordinates, coordinates));
  ASSERT_TRUE(all.has_value());
  for (const Complex value : found.eigenvalues) EXPECT_LE(distance_to(*all, value), 1e-8);
  std::vector<double> moduli;
  for (const Complex value : *all) moduli.push_back(std::abs(value));
  std::sort(moduli.rbegin(), moduli.rend());
  EXPECT_NEAR(found.mixing_rate, moduli[1], 1e-8);
}

TEST(TotalChannel, IsTheSumOfTheSymbolsMaps) {
  for (const Index n : {1, 3, 18, 32, 36, 68}) {
    RandomStream random(71, Purpose::kTest, static_cast<std::uint64_t>(n));
    const KrausSet set = random_kraus(3, 2, n, random);
    const Matrix state = random_density_matrix(n, random) - Matrix::Identity(n, n);
    const Matrix moved = TotalChannel(set).apply(state);
    EXPECT_LE(norm_distance(moved, set.apply_total(state)), 1e-13) << n;
    EXPECT_LE(norm_distance(moved, Matrix(moved.adjoint())), 1e-13) << n;
  }
}

TEST(Spectrum, OfALargeChannelIsThatOfItsMatrix) {
  RandomStream random(72, Purpose::kTest);
  const KrausSet set = random_kraus(2, 2, 20, random);
  const Spectrum found = channel_spectrum(set, 8);
  EXPECT_TRUE(found.converged);
  const auto all = eigenvalues(total_channel_matrix(set));
  ASSERT_TRUE(all.has_value());
  std::vector<double> moduli;
  for (const Complex value : *all) moduli.push_back(std::abs(value));
  std::sort(moduli.rbegin(), moduli.rend());
  for (std::size_t i = 0; i < found.eigenvalues.size(); ++i) {
    EXPECT_LE(distance_to(*all, found.eigenvalues[i]), 1e-10);
    EXPECT_NEAR(std::abs(found.eigenvalues[i]), moduli[i], 1e-10);
  }
}

/// A rotation by every angle: nothing leads, so nothing converges.
TEST(Krylov, EndsWhenItsProductsAreUsedUp) {
  constexpr Index kOrder = 2000;
  Index products = 0;
  const LinearMap map{kOrder, [&products](const double* x, double* y) {
                        ++products;
                        for (Index i = 0; i < kOrder; i += 2) {
                          const double angle = 0.001 * static_cast<double>(i);
                          y[i] = std::cos(angle) * x[i] - std::sin(angle) * x[i + 1];
                          y[i + 1] = std::sin(angle) * x[i] + std::cos(angle) * x[i + 1];
                        }
                      }};
  KrylovOptions options;
  options.wanted = 8;
  options.most_products = 200;
  const auto found = leading_eigen(map, Leading::kLargestModulus, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->converged);
  EXPECT_EQ(found->values.size(), 8);
  EXPECT_LE(products, 200 + options.space);
}

}  // namespace
}  // namespace hqmm::detail::testing
