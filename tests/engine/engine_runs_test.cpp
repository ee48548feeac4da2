// One long sequence, cut into segments by every engine; the same bytes at any thread count and from
// any memory.
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/sample.hpp"
#include "support/engine.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kEngineRunsSeed = 616;
constexpr EngineKind kFast[] = {EngineKind::kAuto,  EngineKind::kFactor,
                                EngineKind::kPure,  EngineKind::kLanes,
                                EngineKind::kKraus, EngineKind::kSuperoperator};

/// Drawn from the model itself: symbols it did not expect would make the gradient a small
/// difference of large numbers, and the naive engine as far from the truth as any.
Batch long_batch(const Shape& shape, std::size_t length, double missing_share,
                 RandomStream& random) {
  Batch batch;
  batch.model = testing::random_hqmm(shape, random);
  std::vector<Symbol> symbols =
      sample(batch.model, {1, length, kEngineRunsSeed, 0, 1})[0].to_vector();
  for (Symbol& symbol : symbols)
    if (random.uniform() < missing_share) symbol = kMissing;
  batch.set = testing::set_of(shape.s, {symbols});
  batch.options = {1000, true, true};
  return batch;
}

/// States of n = 4 fill a segment with 262144 steps, those of n = 2 with 524288.
TEST(EngineRuns, MoreSymbolsInOneSequenceThanASegmentHolds) {
  std::uint64_t index = 0;
  for (const Shape& shape : {Shape{2, 40, 1}, Shape{4, 3, 2}}) {
    RandomStream random(kEngineRunsSeed, Purpose::kTest, ++index);
    Batch batch = long_batch(shape, 600'000, 0.0, random);
    SCOPED_TRACE(fmt::format("n={} s={} w={}", shape.n, shape.s, shape.w));
    const BatchGradient one = batch.gradient_by(EngineKind::kKraus);
    const auto filtered = log_likelihoods(batch.model, batch.set, 1000, 1);
    testing::expect_close(one.log_likelihood, filtered[0].log_likelihood, "log-likelihood");
    EXPECT_EQ(one.scored, filtered[0].scored);
    for (const EngineKind engine : testing::engines_for(batch)) {
      SCOPED_TRACE(name_of(engine));
      testing::expect_same(batch, batch.gradient_by(engine), one);
    }
  }
}

TEST(EngineRuns, AHundredThousandSymbolsAgreeWithTheNaiveOne) {
  std::uint64_t index = 100;
  for (const Shape& shape : {Shape{2, 4, 1}, Shape{3, 4, 1}, Shape{3, 2, 2}}) {
    for (const double missing_share : {0.0, 0.01}) {
      RandomStream random(kEngineRunsSeed, Purpose::kTest, ++index);
      const Batch batch = long_batch(shape, 100'000, missing_share, random);
      SCOPED_TRACE(fmt::format("n={} w={} missing {}", shape.n, shape.w, missing_share));
      testing::expect_every_engine_as_naive(batch);
    }
  }
}

/// States of 20 sequences of n = 12 fill a segment with 1456 steps: three segments, the sequences
/// ending in different ones.
TEST(EngineRuns, SegmentsOfManySequencesAgreeWithTheNaiveOne) {
  RandomStream random(kEngineRunsSeed, Purpose::kTest, 201);
  Batch batch;
  batch.model = testing::random_hqmm({6, 3, 1}, random);
  std::vector<std::size_t> lengths(12);
  for (std::size_t& length : lengths) length = 4000 + random.below(12000);
  lengths[3] = 17;
  batch.set = testing::set_of(3, testing::random_sequences(lengths, 3, random));
  for (const bool through : {true, false}) {
    batch.options = {5000, through, true};
    testing::expect_every_engine_as_naive(batch);
  }
}

TEST(EngineRuns, MoreSymbolsThanAreWorkedOnAtOnce) {
  RandomStream random(kEngineRunsSeed, Purpose::kTest, 250);
  Batch batch;
  batch.model = testing::random_hqmm({2, 3, 1}, random);
  const std::vector<std::size_t> lengths(2200, 500);
  auto sequences = testing::random_sequences(lengths, 3, random);
  batch.set = testing::set_of(3, sequences);
  batch.options = {3, true, true};
  testing::expect_every_engine_as_naive(batch);
  batch.model.sets[0].gamma().bottomRows(2).setZero();
  for (auto& sequence : sequences) std::replace(sequence.begin(), sequence.end(), 2, 1);
  sequences[2150][77] = 2;
  batch.set = testing::set_of(3, sequences);
  for (const EngineKind engine : {EngineKind::kAuto, EngineKind::kKraus}) {
    try {
      static_cast<void>(batch.gradient_by(engine));
      ADD_FAILURE() << "a symbol that cannot be passes";
    } catch (const NotFiniteError& error) {
      EXPECT_EQ(error.place().sequence, 2150U);
      EXPECT_EQ(error.place().position, 77U);
    }
  }
}

// The same bytes.

std::vector<Batch> some_batches() {
  std::vector<Batch> out;
  std::uint64_t index = 300;
  for (const Shape& shape :
       {Shape{2, 4, 1}, Shape{2, 4, 2}, Shape{3, 4, 1}, Shape{12, 12, 2}, Shape{4, 2, 4},
        Shape{20, 3, 1}, Shape{1, 3, 2}, Shape{3, 4, 1, Field::kReal, EmissionKind::kEdge},
        Shape{12, 4, 2, Field::kReal, EmissionKind::kEdge},
        Shape{5, 30, 2, Field::kReal, EmissionKind::kState},
        Shape{3, 2, 2, Field::kComplex, EmissionKind::kState},
        Shape{12, 30, 2, Field::kComplex, EmissionKind::kState}}) {
    for (const std::size_t count : {1, 70, shape.n > 4 ? 33 : 600}) {
      RandomStream random(kEngineRunsSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = index % 3 == 0 ? testing::random_positional_hqmm(
                                         shape, PositionMap::Anchor::kStart, random)
                                   : testing::random_hqmm(shape, random);
      if (index % 2 == 0)
        batch.model.initial_state = random_pure_state(shape.n, random, shape.field);
      std::vector<std::size_t> lengths(count);
      const std::size_t most = shape.n > 4 ? 9 : 60;
      for (std::size_t& length : lengths) length = random.below(most);
      batch.set = testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random));
      batch.options = {index % 4, index % 2 == 0, true};
      out.push_back(std::move(batch));
    }
  }
  return out;
}

/// One that does not fit is left out.
std::vector<EngineKind> fitting(const Batch& batch) {
  const std::vector<EngineKind> all = testing::engines_for(batch);
  std::vector<EngineKind> out;
  for (const EngineKind engine : kFast)
    if (std::find(all.begin(), all.end(), engine) != all.end()) out.push_back(engine);
  return out;
}

TEST(EngineRuns, TheBytesAreTheSameAtAnyThreadCount) {
  for (const Batch& batch : some_batches()) {
    for (const EngineKind engine : fitting(batch)) {
      SCOPED_TRACE(fmt::format("{}: n={} w={}, {} sequences", name_of(engine),
                               batch.model.latent_dim(), batch.model.kraus_rank(),
                               batch.set.size()));
      const BatchGradient one = batch.gradient_by(engine, 1);
      for (const int threads : {2, 3, 0})
        testing::expect_identical(batch.gradient_by(engine, threads), one);
    }
  }
}

TEST(EngineRuns, TheBytesAreTheSameFromUsedMemory) {
  const std::vector<Batch> batches = some_batches();
  GradientScratch scratch;
  for (const int round : {0, 1}) {
    for (const Batch& batch : batches) {
      for (const EngineKind engine : fitting(batch)) {
        SCOPED_TRACE(fmt::format("round {}, {}: n={} w={}, {} sequences", round, name_of(engine),
                                 batch.model.latent_dim(), batch.model.kraus_rank(),
                                 batch.set.size()));
        GradientOptions options = batch.options;
        options.engine = engine;
        options.want_initial_state = round == 0;
        const BatchGradient fresh = gradient(batch.model, batch.views(), options, 1);
        const BatchGradient used = gradient(batch.model, batch.views(), options, 2, scratch);
        testing::expect_identical(used, fresh);
      }
    }
  }
  GradientScratch moved = std::move(scratch);
  const Batch& batch = batches.front();
  testing::expect_identical(gradient(batch.model, batch.views(), batch.options, 1, moved),
                            batch.gradient_by(EngineKind::kAuto));
}

/// What a pass that failed leaves behind is not met again.
TEST(EngineRuns, AFailureLeavesTheMemoryUsable) {
  RandomStream random(kEngineRunsSeed, Purpose::kTest, 400);
  Batch batch;
  batch.model = testing::random_hqmm({3, 3, 1}, random);
  batch.set = testing::set_of(3, testing::random_sequences({30, 40, 50}, 3, random));
  Hqmm broken = batch.model;
  broken.sets[0].gamma().bottomRows(3).setZero();
  GradientScratch scratch;
  for (const EngineKind engine : fitting(batch)) {
    SCOPED_TRACE(name_of(engine));
    GradientOptions options = batch.options;
    options.engine = engine;
    EXPECT_THROW(static_cast<void>(gradient(broken, batch.views(), options, 1, scratch)),
                 NotFiniteError);
    testing::expect_identical(gradient(batch.model, batch.views(), options, 1, scratch),
                              batch.gradient_by(engine));
  }
}

}  // namespace
}  // namespace hqmm::detail
