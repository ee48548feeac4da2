#include "hqmm/model/mixture.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/likelihood.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kMixtureSeed = 314;
constexpr auto kEnd = PositionMap::Anchor::kEnd;

std::vector<Hqmm> some_members(RandomStream& random) {
  return {testing::random_positional_hqmm({2, 3, 1}, kEnd, random),
          testing::random_positional_hqmm({3, 3, 2}, kEnd, random),
          testing::random_positional_hqmm({1, 3, 3}, kEnd, random)};
}

const std::vector<double> kWeights = {0.5, 0.3, 0.2};

TEST(Mixture, GivesTheMixedProbabilities) {
  RandomStream random(kMixtureSeed, Purpose::kTest, 1);
  const std::vector<Hqmm> members = some_members(random);
  const Hqmm mixed = mixture(members, kWeights);
  EXPECT_NO_THROW(require_valid(mixed));
  EXPECT_EQ(mixed.latent_dim(), 6);
  EXPECT_EQ(mixed.kraus_rank(), 3);
  EXPECT_LE(feasibility_residual(mixed), 1e-14);
  for (std::size_t length = 0; length <= 5; ++length) {
    for (int k = 0; k < 10; ++k) {
      const auto symbols = testing::random_symbols(length, 3, random, 0.2);
      double expected = 0.0;
      for (std::size_t m = 0; m < members.size(); ++m)
        expected += kWeights[m] * testing::naive_probability(members[m], symbols);
      EXPECT_NEAR(testing::naive_probability(mixed, symbols), expected, 1e-12);
    }
  }
}

TEST(Mixture, ComesApartAgain) {
  RandomStream random(kMixtureSeed, Purpose::kTest, 2);
  const std::vector<Hqmm> members = some_members(random);
  const Components found = components_of(mixture(members, kWeights));
  ASSERT_EQ(found.members.size(), 3U);
  for (std::size_t m = 0; m < 3; ++m) {
    EXPECT_NEAR(found.weights[m], kWeights[m], 1e-14);
    EXPECT_LE(testing::norm_distance(found.members[m].initial_state, members[m].initial_state),
              1e-14);
    EXPECT_NO_THROW(require_valid(found.members[m]));
    EXPECT_LE(feasibility_residual(found.members[m]), 1e-14);
    const auto symbols = testing::random_symbols(6, 3, random);
    EXPECT_NEAR(testing::naive_probability(found.members[m], symbols),
                testing::naive_probability(members[m], symbols), 1e-14);
  }
}

TEST(Mixture, AModelThatIsNoneIsItsOnlyMember) {
  RandomStream random(kMixtureSeed, Purpose::kTest, 3);
  const Hqmm model = testing::random_hqmm({3, 2, 2}, random);
  const Components found = components_of(model);
  ASSERT_EQ(found.members.size(), 1U);
  EXPECT_EQ(found.weights[0], 1.0);
  EXPECT_TRUE(found.members[0].sets[0].gamma() == model.sets[0].gamma());
}

/// Blocks that only the initial state, or only one operator, connects are one.
TEST(Mixture, OneEntryIsEnoughToConnect) {
  RandomStream random(kMixtureSeed, Purpose::kTest, 4);
  const std::vector<Hqmm> members = some_members(random);
  Hqmm by_state = mixture(members, kWeights);
  by_state.initial_state(0, 5) = by_state.initial_state(5, 0) = 1e-20;
  EXPECT_EQ(components_of(by_state).members.size(), 1U);
  Hqmm by_operator = mixture(members, kWeights);
  by_operator.sets[2].op(1, 0)(2, 1) = Complex(0.0, 1e-20);
  EXPECT_EQ(components_of(by_operator).members.size(), 2U);
}

TEST(Mixture, RefusesWhatCannotBeMixed) {
  RandomStream random(kMixtureSeed, Purpose::kTest, 5);
  std::vector<Hqmm> members = some_members(random);
  const auto mix = [&](std::vector<double> weights) {
    static_cast<void>(mixture(members, weights));
  };
  testing::expect_error(ErrorCode::kUsage, "2 weights", [&] { mix({0.5, 0.5}); });
  testing::expect_error(ErrorCode::kUsage, "sum to 1", [&] { mix({0.5, 0.5, 0.5}); });
  testing::expect_error(ErrorCode::kUsage, "positive", [&] { mix({1.5, -1.0, 0.5}); });
  members[1] = testing::random_positional_hqmm({3, 4, 2}, kEnd, random);
  testing::expect_error(ErrorCode::kUsage, "alphabets", [&] { mix(kWeights); });
  members[1] = testing::random_hqmm({3, 3, 2}, random);
  testing::expect_error(ErrorCode::kUsage, "positions", [&] { mix(kWeights); });
}

}  // namespace
}  // namespace hqmm::detail
