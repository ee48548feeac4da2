// The tiled E step against its plain twin, and where the range of doubles ends.
#include "hqmm/engine/forward_backward.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/expectation_twin.hpp"
#include "hqmm/model/sample.hpp"
#include "reference.hpp"
#include "support.hpp"

namespace hqmm {
namespace {

using testing::twin_counts;
using Sequences = std::vector<std::vector<Symbol>>;

constexpr std::uint64_t kSeed = 91;
const std::function<bool()> kNever = [] { return false; };

ExpectedCounts counts_of(const Hmm& model, const SequenceSet& set, int threads = 1) {
  return expected_counts(model, set, threads, kNever).value();
}

/// Every entry by itself: sums of products of positive numbers lose nothing.
void expect_close(const RealMatrix& found, const RealMatrix& expected, const char* what,
                  double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  const RealMatrix error = (found - expected).cwiseAbs();
  const RealMatrix allowed = (tolerance * expected.array() + 1e-250).matrix();
  EXPECT_TRUE((error.array() <= allowed.array()).all())
      << what << ": worst relative error "
      << (error.array() / (expected.array() + 1e-250)).maxCoeff();
}

void expect_same_counts(const ExpectedCounts& found, const ExpectedCounts& expected,
                        double tolerance = 1e-11) {
  EXPECT_EQ(found.scored, expected.scored);
  EXPECT_NEAR(found.log_likelihood, expected.log_likelihood,
              tolerance * (1.0 + std::abs(expected.log_likelihood)));
  expect_close(found.transitions, expected.transitions, "transitions", tolerance);
  expect_close(found.emissions, expected.emissions, "emissions", tolerance);
  expect_close(found.initial, expected.initial, "initial", tolerance);
  EXPECT_FALSE(found.impossible);
}

void expect_twin_counts(const Hmm& model, const SequenceSet& set) {
  expect_same_counts(counts_of(model, set), twin_counts(model, set));
}

SequenceSet random_set(const Hmm& model, const std::vector<std::size_t>& lengths,
                       RandomStream& random, double missing_share) {
  Sequences sequences;
  for (const std::size_t length : lengths)
    sequences.push_back(
        testing::random_symbols(length, model.alphabet_size(), random, missing_share));
  return {model.alphabet, sequences};
}

/// One column per state.
Hmm make_hmm(const RealMatrix& transition, const RealMatrix& emission, const RealVector& initial) {
  return {Alphabet::integers(static_cast<std::size_t>(emission.rows())), transition, emission,
          initial};
}

bool same_bytes(const ExpectedCounts& a, const ExpectedCounts& b) {
  return a.scored == b.scored && a.log_likelihood == b.log_likelihood &&
         a.transitions == b.transitions && a.emissions == b.emissions && a.initial == b.initial;
}

TEST(ForwardBackward, RaggedSetsOfRandomShapesMatchTheTwin) {
  for (std::uint64_t index = 0; index < 120; ++index) {
    RandomStream random(kSeed, Purpose::kTest, index);
    const auto n = static_cast<Index>(1 + random.below(40));
    const auto s = static_cast<Index>(1 + random.below(25));
    const Hmm model = testing::random_started_hmm(n, s, random);
    std::vector<std::size_t> lengths;
    for (std::uint64_t k = random.below(30); k > 0; --k) lengths.push_back(random.below(100));
    lengths.insert(lengths.end(), {0, 1, 2, 31, 32, 33, 64, 65});
    lengths.resize(1 + random.below(lengths.size()));
    SCOPED_TRACE(::testing::Message() << "n=" << n << " s=" << s << " sequences=" << lengths.size()
                                      << " index=" << index);
    expect_twin_counts(model, random_set(model, lengths, random, index % 3 == 0 ? 0.2 : 0.0));
  }
}

TEST(ForwardBackward, EveryNumberOfStatesUpToSeveralVectorsMatchesTheTwin) {
  for (Index n = 1; n <= 70; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(kSeed, Purpose::kTest, 200 + static_cast<std::uint64_t>(n));
    const Hmm model = testing::random_started_hmm(n, 3, random);
    std::vector<std::size_t> lengths(1 + random.below(9));
    for (std::size_t& length : lengths) length = 30 + random.below(10);
    expect_twin_counts(model, random_set(model, lengths, random, 0.1));
  }
}

TEST(ForwardBackward, ManyStatesMatchTheTwin) {
  RandomStream random(kSeed, Purpose::kTest, 300);
  const Hmm model = testing::random_started_hmm(256, 5, random);
  expect_twin_counts(model, random_set(model, {80, 70, 33, 1}, random, 0.1));
}

TEST(ForwardBackward, AlphabetsOfTwoBytesMatchTheTwin) {
  for (const Index s : {255, 256, 1000, 65535}) {
    SCOPED_TRACE(s);
    RandomStream random(kSeed, Purpose::kTest, 310 + static_cast<std::uint64_t>(s));
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
    RandomStream random(kSeed, Purpose::kTest, ++index);
    SCOPED_TRACE(lengths.front());
    const Hmm model = testing::random_started_hmm(3, 4, random);
    expect_twin_counts(model, random_set(model, lengths, random, 0.1));
  }
}

TEST(ForwardBackward, AMillionSymbolsMatchTheTwinAndRoundingDoesNotAddUp) {
  RandomStream random(kSeed, Purpose::kTest, 410);
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
    RandomStream random(kSeed, Purpose::kTest, index);
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

TEST(ForwardBackward, SymbolsOfTinyProbabilityMatchTheTwin) {
  for (const double tiny : {1e-12, 1e-40, 1e-150, 1e-300}) {
    SCOPED_TRACE(tiny);
    RandomStream random(kSeed, Purpose::kTest, 600);
    Hmm model = testing::random_started_hmm(5, 4, random);
    for (Index i = 0; i < 5; ++i) {
      model.emission(0, i) = tiny * (1.0 + static_cast<double>(i));
      model.emission(1, i) = 1.0 - model.emission.col(i).tail(2).sum() - model.emission(0, i);
    }
    const SequenceSet set =
        random_set(model, {400, 33, 32, 1, 90, 90, 7, 64, 65, 100}, random, 0.1);
    expect_twin_counts(model, set);
    const SequenceSet only_tiny(model.alphabet, {std::vector<Symbol>(100, 0), {0}, {0, 0, 1}});
    expect_twin_counts(model, only_tiny);
  }
}

// The columns of a model from a file sum to one within 1e-9 only.
TEST(ForwardBackward, AMissingSymbolWeighsOneEvenIfTheColumnsAreABitOff) {
  RandomStream random(kSeed, Purpose::kTest, 610);
  Hmm model = testing::random_started_hmm(4, 3, random);
  model.transition *= 1.0 + 8e-10;
  model.initial *= 1.0 - 8e-10;
  expect_twin_counts(model, random_set(model, {200, 150, 40, 3}, random, 0.4));
}

TEST(ForwardBackward, NothingSeenCountsTheInitialStateOnly) {
  RandomStream random(kSeed, Purpose::kTest, 611);
  const Hmm model = testing::random_started_hmm(3, 4, random);
  const ExpectedCounts none = counts_of(model, SequenceSet(model.alphabet));
  EXPECT_EQ(none.initial.norm() + none.transitions.norm() + none.emissions.norm(), 0.0);
  const ExpectedCounts found =
      counts_of(model, SequenceSet(model.alphabet, {{}, {kMissing, kMissing}, {}}));
  EXPECT_EQ(found.scored, 0U);
  EXPECT_EQ(found.log_likelihood, 0.0);
  EXPECT_EQ(found.emissions.norm(), 0.0);
  EXPECT_LT((found.initial - 3.0 * model.initial).norm(), 1e-14);
  EXPECT_NEAR(found.transitions.sum(), 2.0, 1e-13);
}

// State 1 cannot be, though it would explain the data better by any factor: β of it has no bound.
TEST(ForwardBackward, AnUnreachableStateCountsForNothing) {
  const RealMatrix together = RealMatrix::Identity(2, 2);
  for (const double tiny : {1e-3, 1e-30, 1e-300}) {
    SCOPED_TRACE(tiny);
    const Hmm model =
        make_hmm(together, RealMatrix{{tiny, 1.0}, {1.0 - tiny, 0.0}}, RealVector{{1.0, 0.0}});
    const SequenceSet set(model.alphabet, {std::vector<Symbol>(2000, 0), {0, 1, 0}});
    const ExpectedCounts found = counts_of(model, set);
    EXPECT_NEAR(found.log_likelihood, 2002 * std::log(tiny) + std::log1p(-tiny),
                1e-12 * std::abs(found.log_likelihood));
    expect_close(found.transitions, RealMatrix{{2003.0, 0.0}, {0.0, 0.0}}, "transitions", 1e-12);
    expect_close(found.emissions, RealMatrix{{2002.0, 0.0}, {1.0, 0.0}}, "emissions", 1e-12);
    expect_close(found.initial, RealVector{{2.0, 0.0}}, "initial", 1e-12);
  }
}

// Two coins, one of which was taken at the start. Evidence for the first is 2^-1100 ahead and is
// then outweighed: further than numbers around one reach.
TEST(ForwardBackward, AStateThatWasAllButExcludedCanComeBack) {
  const Hmm coins =
      make_hmm(RealMatrix::Identity(2, 2), RealMatrix{{0.5, 0.25}, {0.25, 0.5}, {0.25, 0.25}},
               RealVector{{0.5, 0.5}});
  std::vector<Symbol> symbols(1100, 0);
  symbols.resize(2210, 1);
  const ExpectedCounts found = counts_of(coins, SequenceSet(coins.alphabet, {symbols}));
  const double posterior = 1.0 / (1.0 + std::exp2(-10.0));
  EXPECT_NEAR(found.initial(1), posterior, 1e-11);
  EXPECT_NEAR(found.emissions(1, 1), 1110 * posterior, 1e-8);
  EXPECT_NEAR(found.log_likelihood,
              (-1.0 - 2 * 1100 - 1110) * std::log(2.0) + std::log1p(std::exp2(-10.0)), 1e-9);
}

// And further than any number reaches. Whatever is then made of it is made of all of it: the coin
// never changes, so its posterior is the same at every symbol.
TEST(ForwardBackward, AStateThatIsLostForGoodIsLostConsistently) {
  const Hmm coins =
      make_hmm(RealMatrix::Identity(2, 2), RealMatrix{{0.5, 0.25}, {0.25, 0.5}, {0.25, 0.25}},
               RealVector{{0.5, 0.5}});
  for (const std::size_t zeros : {1400, 1420, 1430, 1440, 1460, 1480, 1600, 3000}) {
    SCOPED_TRACE(zeros);
    const std::size_t ones = zeros + 20;
    std::vector<Symbol> symbols(zeros, 0);
    symbols.resize(zeros + ones, 1);
    const ExpectedCounts found =
        counts_of(coins, SequenceSet(coins.alphabet, {{2}, symbols, {2, 2}}));
    const double posterior = found.initial(0) - 1.0;  // the others say nothing of the coin
    EXPECT_NEAR(found.initial.sum(), 3.0, 1e-12);
    EXPECT_NEAR(found.emissions(0, 0), static_cast<double>(zeros) * posterior, 1e-8);
    EXPECT_NEAR(found.emissions(1, 0), static_cast<double>(ones) * posterior, 1e-8);
    EXPECT_NEAR(found.transitions(0, 0), static_cast<double>(zeros + ones) * posterior + 1.5, 1e-8);
    EXPECT_NEAR(found.transitions.sum(), static_cast<double>(zeros + ones + 3), 1e-8);
  }
}

void expect_impossible(const Hmm& model, const SequenceSet& set, std::size_t sequence,
                       std::size_t position) {
  for (const int threads : {1, 2}) {
    const ExpectedCounts found = counts_of(model, set, threads);
    ASSERT_TRUE(found.impossible);
    EXPECT_EQ(found.impossible->sequence, sequence);
    EXPECT_EQ(found.impossible->position, position);
  }
}

TEST(ForwardBackward, NamesTheFirstSequenceWithASymbolOfProbabilityZero) {
  // 0 and 1 alternate; 2 is never seen
  const Hmm model =
      make_hmm(RealMatrix{{0.0, 1.0}, {1.0, 0.0}}, RealMatrix{{1.0, 0.0}, {0.0, 1.0}, {0.0, 0.0}},
               RealVector{{0.5, 0.5}});
  std::vector<Symbol> fine(5000);
  for (std::size_t t = 0; t < fine.size(); ++t) fine[t] = static_cast<Symbol>(t % 2);
  for (const std::size_t position : {0, 1, 30, 31, 32, 33, 63, 64, 100, 4998, 4999}) {
    SCOPED_TRACE(position);
    std::vector<Symbol> wrong = fine;
    wrong[position] = 2;
    expect_impossible(model, SequenceSet(model.alphabet, {{1, 0}, fine, wrong, {2}, {}}), 2,
                      position);
  }
  expect_impossible(model, SequenceSet(model.alphabet, {{0, 1, 0, kMissing, 1}, fine}), 0, 4);

  const SequenceSet with(model.alphabet, {{0, 1, 0, 1}, {0, 0}, fine, {1, kMissing, 1, 0}});
  ExpectedCounts others = counts_of(model, with);
  others.impossible.reset();
  const SequenceSet without(model.alphabet, {{0, 1, 0, 1}, fine, {1, kMissing, 1, 0}});
  expect_same_counts(others, twin_counts(model, without));
}

TEST(ForwardBackward, HasTheSameBytesAtAnyThreadCount) {
  for (const Index n : {2, 6, 17}) {
    RandomStream random(kSeed, Purpose::kTest, 700 + static_cast<std::uint64_t>(n));
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
  RandomStream random(kSeed, Purpose::kTest, 710);
  const Hmm model = testing::random_started_hmm(2, 2, random);
  const SequenceSet set = random_set(model, std::vector<std::size_t>(20000, 50), random, 0.0);
  std::size_t asked = 0;
  EXPECT_FALSE(expected_counts(model, set, 1, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3U);
}

TEST(ForwardBackward, RefusesASymbolThatTheModelDoesNotHave) {
  RandomStream random(kSeed, Purpose::kTest, 711);
  const Hmm model = testing::random_started_hmm(2, 3, random);
  const SequenceSet set(Alphabet::integers(9), {{0, 1}, {0, kMissing, 3}});
  testing::expect_error(ErrorCode::kBadData, "symbol 2 of sequence 1 is 3",
                        [&] { (void)counts_of(model, set); });
}

TEST(CarefulCounts, MatchTheTwin) {
  for (std::uint64_t index = 800; index < 810; ++index) {
    RandomStream random(kSeed, Purpose::kTest, index);
    const Hmm model =
        testing::random_started_hmm(static_cast<Index>(1 + random.below(9)), 4, random);
    const SequenceSet set = random_set(model, {0, 1, 50, 9000}, random, 0.1);
    ExpectedCounts found(model);
    for (std::size_t i = 0; i < set.size(); ++i) EXPECT_FALSE(careful_counts(model, set[i], found));
    expect_same_counts(found, twin_counts(model, set));
  }
}

}  // namespace
}  // namespace hqmm
