#include "hqmm/core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "support/property.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kRandomSeed = 20240229;

std::vector<std::uint64_t> numbers(RandomStream random, std::size_t count) {
  std::vector<std::uint64_t> out(count);
  for (auto& bits : out) bits = random.bits();
  return out;
}

/// Pearson's statistic of counts that should all be alike.
double chi_square(const std::vector<int>& counts, int draws) {
  const double expected = static_cast<double>(draws) / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

/// Far out in the tail of chi-square: mean + 5 standard deviations. Seeds are fixed, so a test that
/// passes always passes.
double chi_square_limit(std::size_t cells) {
  const double freedom = static_cast<double>(cells) - 1.0;
  return freedom + 5.0 * std::sqrt(2.0 * freedom);
}

TEST(RandomStream, IsPhilox4x64With10Rounds) {
  // The all-zero line of Random123's kat_vectors for philox4x64-10.
  const std::vector<std::uint64_t> expected = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc,
                                               0xd7e772cee186176b, 0x7e68b68aec7ba23b};
  EXPECT_EQ(numbers(RandomStream(0, static_cast<Purpose>(0)), 4), expected);
}

TEST(RandomStream, PutsSeedAndPurposeInTheKeyAndIndicesInTheCounter) {
  // numpy: Philox(key=[0x0123456789abcdef, 1000], counter=[0, 0, 7, 3] − 1).random_raw(9)
  const std::vector<std::uint64_t> expected = {
      0x3b0fa7106da4ee48, 0x4a9b4cbd76520080, 0xb69401cce9fd8c0e,
      0xa92c7300599b020a, 0xde175cd564f196cd, 0x42f37d814f9400e5,
      0xf2a43aafdc948d1c, 0x5319d686ae4afb3e, 0x1ac7215b9f3a911c};
  EXPECT_EQ(numbers(RandomStream(0x0123456789abcdef, Purpose::kTest, 7, 3), 9), expected);
}

TEST(RandomStream, PurposesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(Purpose::kSample), 1);
  EXPECT_EQ(static_cast<int>(Purpose::kInitialModel), 2);
  EXPECT_EQ(static_cast<int>(Purpose::kInitialState), 3);
  EXPECT_EQ(static_cast<int>(Purpose::kShuffle), 4);
  EXPECT_EQ(static_cast<int>(Purpose::kFolds), 5);
  EXPECT_EQ(static_cast<int>(Purpose::kSearch), 6);
  EXPECT_EQ(static_cast<int>(Purpose::kNoise), 7);
  EXPECT_EQ(static_cast<int>(Purpose::kDropout), 8);
  EXPECT_EQ(static_cast<int>(Purpose::kEntropy), 9);
}

HQMM_PROPERTY(RandomStream, IsAFunctionOfItsFourNumbers) {
  const std::uint64_t seed = draw.number();
  const std::uint64_t index = draw.number();
  const std::uint64_t subindex = draw.number();
  const auto first = numbers(RandomStream(seed, Purpose::kTest, index, subindex), 8);
  HQMM_HOLDS(first == numbers(RandomStream(seed, Purpose::kTest, index, subindex), 8));
  const std::set<std::vector<std::uint64_t>> all = {
      first, numbers(RandomStream(seed + 1, Purpose::kTest, index, subindex), 8),
      numbers(RandomStream(seed, Purpose::kSample, index, subindex), 8),
      numbers(RandomStream(seed, Purpose::kTest, index + 1, subindex), 8),
      numbers(RandomStream(seed, Purpose::kTest, index, subindex + 1), 8)};
  HQMM_HOLDS(all.size() == 5U);
}

TEST(RandomStream, DoesNotRepeatWithinAStream) {
  auto bits = numbers(RandomStream(kRandomSeed, Purpose::kTest), 100'000);
  std::sort(bits.begin(), bits.end());
  EXPECT_EQ(std::adjacent_find(bits.begin(), bits.end()), bits.end());
}

TEST(Uniform, HasTheRightMomentsAndRange) {
  RandomStream random(kRandomSeed, Purpose::kTest, 1);
  constexpr int kDraws = 200'000;
  double sum = 0.0;
  double squares = 0.0;
  double lag = 0.0;
  double before = 0.5;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
    lag += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // Tolerances are five standard errors.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
  EXPECT_NEAR(lag / kDraws, 0.0, 5 * (1.0 / 12) / std::sqrt(kDraws));
}

TEST(Uniform, FillsItsCellsEvenly) {
  RandomStream random(kRandomSeed, Purpose::kTest, 2);
  constexpr int kDraws = 100'000;
  std::vector<int> counts(100);
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(random.uniform() * 100)];
  EXPECT_LT(chi_square(counts, kDraws), chi_square_limit(counts.size()));
}

TEST(Uniform, UsesTheTop53Bits) {
  RandomStream random(5, Purpose::kTest);
  RandomStream same(5, Purpose::kTest);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(random.uniform(), std::ldexp(static_cast<double>(same.bits() >> 11), -53));
  }
}

TEST(Normal, HasTheRightMoments) {
  RandomStream random(kRandomSeed, Purpose::kTest, 3);
  constexpr int kDraws = 200'000;
  double power[5] = {};
  double pairs = 0.0;  // the two halves of one Box–Muller draw
  for (int i = 0; i < kDraws; i += 2) {
    const double a = random.normal();
    const double b = random.normal();
    pairs += a * b;
    for (int p = 1; p <= 4; ++p) power[p] += std::pow(a, p) + std::pow(b, p);
  }
  // Five standard errors: the variances of x, x², x³, x⁴ are 1, 2, 15, 96.
  const double root = std::sqrt(kDraws);
  EXPECT_NEAR(power[1] / kDraws, 0.0, 5 / root);
  EXPECT_NEAR(power[2] / kDraws, 1.0, 5 * std::sqrt(2) / root);
  EXPECT_NEAR(power[3] / kDraws, 0.0, 5 * std::sqrt(15) / root);
  EXPECT_NEAR(power[4] / kDraws, 3.0, 5 * std::sqrt(96) / root);
  EXPECT_NEAR(pairs / (kDraws / 2), 0.0, 5 / std::sqrt(kDraws / 2));
}

TEST(Below, IsEvenForASmallBound) {
  RandomStream random(kRandomSeed, Purpose::kTest, 4);
  constexpr int kDraws = 60'000;
  std::vector<int> counts(6);
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(6));
  EXPECT_LT(chi_square(counts, kDraws), chi_square_limit(counts.size()));
}

TEST(Below, IsEvenForABoundThatPlainScalingWouldBias) {
  // Of the values below 3·2⁶², scaling 64 bits without rejection hits the multiples of 3 twice as
  // often.
  RandomStream random(kRandomSeed, Purpose::kTest, 5);
  constexpr int kDraws = 30'000;
  std::vector<int> residues(3);
  std::vector<int> thirds(3);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t value = random.below(std::uint64_t{3} << 62U);
    ++residues.at(value % 3);
    ++thirds.at(value >> 62U);
  }
  EXPECT_LT(chi_square(residues, kDraws), chi_square_limit(3));
  EXPECT_LT(chi_square(thirds, kDraws), chi_square_limit(3));
}

HQMM_PROPERTY(Below, StaysBelow) {
  const std::uint64_t bound = std::max<std::uint64_t>(1, draw.number());
  RandomStream random(draw.number(), Purpose::kTest);
  for (int i = 0; i < 20; ++i) HQMM_HOLDS(random.below(bound) < bound);
  HQMM_HOLDS(random.below(1) == 0U);
}

TEST(Categorical, FollowsTheWeights) {
  RandomStream random(kRandomSeed, Purpose::kTest, 6);
  const std::vector<double> weights = {0.5, 0.0, 3.0, 1.5};  // sums to 5: need not be normalised
  constexpr int kDraws = 100'000;
  std::vector<int> counts(4);
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.categorical(weights));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double p = weights[k] / 5.0;
    EXPECT_NEAR(counts[k], p * kDraws, 5 * std::sqrt(p * (1 - p) * kDraws)) << "weight " << k;
  }
}

TEST(Categorical, LeavesWhatRoundingLeavesOverToTheLastPositiveWeight) {
  // Half of all draws times the smallest number round to that number itself, which no weight
  // covers.
  const std::vector<double> weights = {0.0, std::numeric_limits<double>::denorm_min(), 0.0};
  RandomStream random(kRandomSeed, Purpose::kTest, 8);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(random.categorical(weights), 1U);
}

HQMM_PROPERTY(Categorical, NeverDrawsAWeightOfZero) {
  std::vector<double> weights(1 + draw.length());
  for (double& weight : weights)
    weight = draw.one_of({0.0, 0.0, 1e-300, 0.1, 1.0 / 3.0, 1.0, 1e300});
  weights[draw.between(0, weights.size() - 1)] = 0.7;
  RandomStream random(draw.number(), Purpose::kTest);
  for (int i = 0; i < 50; ++i) HQMM_HOLDS(weights.at(random.categorical(weights)) > 0.0);
}

HQMM_PROPERTY(Permutation, HoldsEveryIndexOnce) {
  const std::size_t size = draw.length(300);
  RandomStream random(draw.number(), Purpose::kTest);
  auto order = permutation(size, random);
  HQMM_HOLDS(order.size() == size);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < size; ++i) HQMM_HOLDS(order[i] == i);
}

TEST(Permutation, IsUniformOverAllOrders) {
  constexpr int kDraws = 48'000;
  std::vector<int> counts(24);  // the orders of four things, numbered by their Lehmer code
  for (int i = 0; i < kDraws; ++i) {
    RandomStream random(kRandomSeed, Purpose::kTest, 7, static_cast<std::uint64_t>(i));
    const auto order = permutation(4, random);
    const auto below = [&](std::size_t at) {
      return std::count_if(order.begin() + static_cast<std::ptrdiff_t>(at), order.end(),
                           [&](std::uint32_t later) { return later < order[at]; });
    };
    ++counts.at(static_cast<std::size_t>(below(0) * 6 + below(1) * 2 + below(2)));
  }
  EXPECT_LT(chi_square(counts, kDraws), chi_square_limit(counts.size()));
}

}  // namespace
}  // namespace hqmm::detail
