// The tiled E step against its plain twin.
#include "hqmm/engine/classical/forward_backward.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/sample.hpp"
#include "support/expectation_twin.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::counts_of;
using testing::expect_same_counts;
using testing::expect_twin_counts;
using testing::random_set;
using testing::twin_counts;

constexpr std::uint64_t kForwardBackwardSeed = 91;

bool same_bytes(const ExpectedCounts& a, const ExpectedCounts& b) {
  return a.scored == b.scored && a.log_likelihood == b.log_likelihood &&
         a.transitions == b.transitions && a.emissions == b.emissions && a.initial == b.initial;
}

TEST(ForwardBackward, RaggedSetsOfRandomShapesMatchTheTwin) {
  for (std::uint64_t index = 0; index < 120; ++index) {
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, index);
    const auto n = static_cast<Index>(1 + random.below(40));
    const auto s = static_cast<Index>(1 + random.below(25));
    const Hmm model = testing::random_started_hmm(n, s, random);
    std::vector<std::size_t> lengths;
    for (std::uint64_t k = random.below(30); k > 0; --k) lengths.push_back(random.below(100));
    lengths.insert(lengths.begin(), {0, 1, 2, 31, 32, 33, 64, 65});
    lengths.resize(1 + random.below(lengths.size()));
    SCOPED_TRACE(::testing::Message() << "n=" << n << " s=" << s << " sequences=" << lengths.size()
                                      << " index=" << index);
    expect_twin_counts(model, random_set(model, lengths, random, index % 3 == 0 ? 0.2 : 0.0));
  }
}

TEST(ForwardBackward, EveryNumberOfStatesUpToSeveralVectorsMatchesTheTwin) {
  for (Index n = 1; n <= 70; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, 200 + static_cast<std::uint64_t>(n));
    const Hmm model = testing::random_started_hmm(n, 3, random);
    std::vector<std::size_t> lengths(1 + random.below(9));
    for (std::size_t& length : lengths) length = 30 + random.below(10);
    expect_twin_counts(model, random_set(model, lengths, random, 0.1));
  }
}

TEST(ForwardBackward, ManyStatesMatchTheTwin) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 300);
  const Hmm model = testing::random_started_hmm(256, 5, random);
  expect_twin_counts(model, random_set(model, {80, 70, 33, 1}, random, 0.1));
}

TEST(ForwardBackward, AlphabetsOfTwoBytesMatchTheTwin) {
  for (const Index s : {255, 256, 1000, 65535}) {
    SCOPED_TRACE(s);
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, 310 + static_cast<std::uint64_t>(s));
    const Hmm model = testing::random_started_hmm(3, s, random);
    expect_twin_counts(model, random_set(model, {300, 200, 1, 57}, random, 0.1));
  }
}

// States are kept for some thousand steps; what lies before is computed again.
TEST(ForwardBackward, SequencesOfSeveralSegmentsMatchTheTwin) {
  std::uint64_t index = 400;
  for (const std::vector<std::size_t>& lengths :
       {std::vector<std::size_t>{50000},
        {15840, 15872, 15904, 1},
        {40000, 300, 299, 20, 5000},
        {6000, 5999, 5000, 4097, 4096, 4095, 3000, 2048, 2047, 1024}}) {
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, ++index);
    SCOPED_TRACE(lengths.front());
    const Hmm model = testing::random_started_hmm(3, 4, random);
    expect_twin_counts(model, random_set(model, lengths, random, 0.1));
  }
}

TEST(ForwardBackward, AMillionSymbolsMatchTheTwinAndRoundingDoesNotAddUp) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 410);
  const Hmm model = testing::random_started_hmm(7, 6, random);
  const SequenceSet set = random_set(model, {70000, 1000000, 7, 66000, 80000}, random, 0.05);
  const ExpectedCounts found = counts_of(model, set);
  expect_same_counts(found, twin_counts(model, set));
  const auto transitions = static_cast<double>(set.symbol_count());
  EXPECT_NEAR(found.transitions.sum(), transitions, 5e-15 * transitions);
}

/// Each column has some zeros; what is left sums to one.
void thin_out(RealMatrix& columns, RandomStream& random) {
  for (Index j = 0; j < columns.cols(); ++j) {
    const auto kept = static_cast<Index>(random.below(static_cast<std::uint64_t>(columns.rows())));
    for (Index i = 0; i < columns.rows(); ++i)
      if (i != kept && random.uniform() < 0.5) columns(i, j) = 0.0;
    columns.col(j) /= columns.col(j).sum();
  }
}

TEST(ForwardBackward, ModelsWithZerosMatchTheTwin) {
  for (std::uint64_t index = 500; index < 540; ++index) {
    SCOPED_TRACE(index);
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, index);
    Hmm model = testing::random_started_hmm(static_cast<Index>(1 + random.below(12)),
                                            static_cast<Index>(1 + random.below(6)), random);
    thin_out(model.transition, random);
    thin_out(model.emission, random);
    model.initial.setZero();
    model.initial(
        static_cast<Index>(random.below(static_cast<std::uint64_t>(model.latent_dim())))) = 1.0;
    SampleOptions options;
    options.count = 11;
    options.length = 90;
    options.seed = index;
    expect_twin_counts(model, sample(model, options));
  }
}

// The columns of a model from a file sum to one within 1e-9 only.
TEST(ForwardBackward, AMissingSymbolWeighsOneEvenIfTheColumnsAreABitOff) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 610);
  Hmm model = testing::random_started_hmm(4, 3, random);
  model.transition *= 1.0 + 8e-10;
  model.initial *= 1.0 - 8e-10;
  expect_twin_counts(model, random_set(model, {200, 150, 40, 3}, random, 0.4));
}

TEST(ForwardBackward, NothingSeenCountsTheInitialStateOnly) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 611);
  const Hmm model = testing::random_started_hmm(3, 4, random);
  const ExpectedCounts none = counts_of(model, SequenceSet(model.alphabet));
  EXPECT_EQ(none.initial.norm() + none.transitions.norm() + none.emissions.norm(), 0.0);
  const ExpectedCounts found =
      counts_of(model, SequenceSet(model.alphabet, {{}, {kMissing, kMissing}, {}}));
  EXPECT_EQ(found.scored, 0U);
  EXPECT_EQ(found.log_likelihood, 0.0);
  EXPECT_EQ(found.emissions.norm(), 0.0);
  EXPECT_LT(testing::norm_distance(found.initial, RealVector(3.0 * model.initial)), 1e-14);
  EXPECT_NEAR(found.transitions.sum(), 2.0, 1e-13);
}

TEST(ForwardBackward, HasTheSameBytesAtAnyThreadCount) {
  for (const Index n : {2, 6, 17}) {
    RandomStream random(kForwardBackwardSeed, Purpose::kTest, 700 + static_cast<std::uint64_t>(n));
    Hmm model = testing::random_started_hmm(n, 5, random);
    model.emission.row(4) *= 1e-280;  // needs care in places
    for (Index i = 0; i < n; ++i) model.emission.col(i) /= model.emission.col(i).sum();
    std::vector<std::size_t> lengths(300);
    for (std::size_t& length : lengths) length = random.below(200);
    lengths[17] = 30000;
    const SequenceSet set = random_set(model, lengths, random, 0.05);
    const ExpectedCounts one = counts_of(model, set, 1);
    expect_same_counts(one, twin_counts(model, set));
    for (const int threads : {2, 3, 8})
      EXPECT_TRUE(same_bytes(one, counts_of(model, set, threads))) << threads << " threads";
    EXPECT_TRUE(same_bytes(one, counts_of(model, set, 1)));
  }
}

TEST(ForwardBackward, StopsWhenAskedTo) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 710);
  const Hmm model = testing::random_started_hmm(2, 2, random);
  const SequenceSet set = random_set(model, std::vector<std::size_t>(20000, 50), random, 0.0);
  std::size_t asked = 0;
  EXPECT_FALSE(expected_counts(model, set, 1, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3U);
}

TEST(ForwardBackward, RefusesASymbolThatTheModelDoesNotHave) {
  RandomStream random(kForwardBackwardSeed, Purpose::kTest, 711);
  const Hmm model = testing::random_started_hmm(2, 3, random);
  const SequenceSet set(Alphabet::integers(9), {{0, 1}, {0, kMissing, 3}});
  testing::expect_error(ErrorCode::kBadData, "symbol 2 of sequence 1 is 3",
                        [&] { (void)counts_of(model, set); });
}

}  // namespace
}  // namespace hqmm::detail
