// Every engine against the adjoint pass as it is written down, on batches of random shapes, of
// awkward lengths, and of more sequences than one pass takes.
#include <algorithm>
#include <cmath>

#include "hqmm/engine/quantum/gradient.hpp"
#include "support/engine.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kEnginesSeed = 4711;

template <typename T>
const T& one_of(const std::vector<T>& values, RandomStream& random) {
  return values[random.below(values.size())];
}

bool chance(double share, RandomStream& random) { return random.uniform() < share; }

/// Lengths around the places where passes rescale (16 steps, of one to three symbols) and where
/// blocks of steps end.
const std::vector<std::size_t> kLengths = {0,  1,  2,  3,  5,  7,  15, 16, 17,  31,  32, 33,
                                           47, 48, 49, 50, 51, 64, 80, 97, 144, 150, 193};
const std::vector<std::size_t> kBurnIns = {0, 0, 0, 1, 2, 15, 16, 17, 20, 32, 48, 49, 96, 1000};

/// One of the four kinds of model: complex or real, on edges or on states.
Shape of_kind(Shape shape, std::uint64_t kind) {
  shape.field = kind % 2 == 0 ? Field::kComplex : Field::kReal;
  shape.emission = kind < 2 ? EmissionKind::kEdge : EmissionKind::kState;
  return shape;
}

Shape random_shape(bool large, RandomStream& random) {
  const auto n = static_cast<Index>(large ? 9 + random.below(12) : 1 + random.below(8));
  const auto s = static_cast<Index>(2 + random.below(chance(0.6, random) ? 5 : 19));
  const auto w = chance(0.5, random) ? Index{1} : static_cast<Index>(1 + random.below(6));
  return of_kind({n, s, w}, random.below(4));
}

Hqmm random_model(const Shape& shape, RandomStream& random) {
  const double kind = random.uniform();
  Hqmm model = testing::random_hqmm(shape, random);
  if (kind < 0.35) {
    const auto anchor = kind < 0.17 ? PositionMap::Anchor::kStart : PositionMap::Anchor::kEnd;
    model = testing::random_positional_hqmm(shape, anchor, random);
  }
  switch (random.below(4)) {
    case 0:
      model.initial_state = random_pure_state(shape.n, random, shape.field);
      break;
    case 1:
      model.initial_state = maximally_mixed(shape.n);
      break;
    case 2:
      model.initial_state = testing::random_state(shape.n, (shape.n + 1) / 2, random, shape.field);
      break;
    default:
      break;  // of full rank
  }
  if (chance(0.25, random)) testing::make_infeasible(model, random);
  return model;
}

/// Structured models of rank one hardly forget: on random symbols, every engine soon is as far from
/// the truth as the naive one.
std::size_t longest_for(const Shape& shape) {
  if (shape.w > 1) return 1000;
  if (shape.emission == EmissionKind::kState) return 7;
  return shape.field == Field::kReal ? 33 : 1000;
}

/// At most `work` multiplications of the naive engine.
Batch random_batch(bool large, double work, RandomStream& random) {
  Batch out;
  const Shape shape = random_shape(large, random);
  out.model = random_model(shape, random);
  const double missing_share = chance(0.3, random) ? 0.15 : 0.0;
  const double cost = 20.0 * static_cast<double>(shape.n * shape.n * shape.n * shape.w) *
                      (1.0 + missing_share * static_cast<double>(shape.s));
  const std::size_t longest = longest_for(shape);
  const std::size_t count = one_of<std::size_t>({1, 1, 2, 3, 5, 8, 20, 33, 40}, random);
  std::vector<std::size_t> lengths;
  double left = work / cost;
  while (lengths.size() < count && left > 0.0) {
    lengths.push_back(std::min(one_of(kLengths, random), longest));
    left -= static_cast<double>(lengths.back());
  }
  if (chance(0.3, random)) std::fill(lengths.begin(), lengths.end(), lengths[0]);
  out.set =
      testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random, missing_share));
  out.options.burn_in = one_of(kBurnIns, random);
  out.options.through_burn_in = chance(0.5, random);
  out.options.want_initial_state = chance(0.5, random);
  return out;
}

std::string describe(const Batch& batch) {
  return fmt::format(
      "{} {} n={} s={} w={} sets={} feasible={} sequences={} longest={} burn-in {}{}",
      batch.model.field == Field::kReal ? "real" : "complex",
      batch.model.emits_on() == EmissionKind::kState ? "states" : "edges", batch.model.latent_dim(),
      batch.model.alphabet_size(), batch.model.kraus_rank(), batch.model.sets.size(),
      is_feasible(batch.model), batch.set.size(), batch.set.longest(), batch.options.burn_in,
      batch.options.through_burn_in ? "" : " stopped");
}

TEST(Engines, AgreeWithTheNaiveOneOnSmallShapes) {
  for (std::uint64_t index = 0; index < 900; ++index) {
    RandomStream random(kEnginesSeed, Purpose::kTest, index);
    const Batch batch = random_batch(false, 4e6, random);
    SCOPED_TRACE(fmt::format("case {}: {}", index, describe(batch)));
    testing::expect_every_engine_as_naive(batch);
    if (HasFailure()) return;
  }
}

TEST(Engines, AgreeWithTheNaiveOneOnLargeShapes) {
  for (std::uint64_t index = 1000; index < 1032; ++index) {
    RandomStream random(kEnginesSeed, Purpose::kTest, index);
    const Batch batch = random_batch(true, 3e7, random);
    SCOPED_TRACE(fmt::format("case {}: {}", index, describe(batch)));
    testing::expect_every_engine_as_naive(batch);
    if (HasFailure()) return;
  }
}

/// Lengths such that blocks of steps end inside the sequences, and words of two and three symbols
/// do not come out even: states of n = 8 of 34 sequences fill a block in 32 to 48 steps.
TEST(Engines, AgreeAcrossBlocksWithBurnInsAtTheirEnds) {
  std::uint64_t index = 2000;
  for (const Shape& shape : {Shape{8, 2, 1}, Shape{8, 3, 2}, Shape{5, 2, 1}, Shape{2, 3, 2}}) {
    RandomStream random(kEnginesSeed, Purpose::kTest, ++index);
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    std::vector<std::size_t> lengths(34, 100);
    for (std::size_t i = 0; i < 20; ++i) lengths[i] = 30 + 5 * i;
    batch.set = testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random));
    batch.options.want_initial_state = true;
    for (const std::size_t burn_in : {16, 48, 64, 95}) {
      for (const bool through : {true, false}) {
        batch.options.burn_in = burn_in;
        batch.options.through_burn_in = through;
        SCOPED_TRACE(describe(batch));
        testing::expect_every_engine_as_naive(batch);
      }
    }
  }
}

/// More parts than a round has.
TEST(Engines, AgreeOnManyShortSequences) {
  std::uint64_t index = 2100;
  for (const Shape& shape : {Shape{2, 4, 1}, Shape{2, 3, 2}, Shape{3, 2, 1}, Shape{3, 4, 3}}) {
    RandomStream random(kEnginesSeed, Purpose::kTest, ++index);
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    std::vector<std::size_t> lengths(1100);
    for (std::size_t& length : lengths) length = random.below(12);
    batch.set = testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random));
    batch.options.burn_in = 2;
    SCOPED_TRACE(describe(batch));
    testing::expect_every_engine_as_naive(batch);
  }
}

TEST(Engines, AgreeOnBatchesWithNothingInThem) {
  RandomStream random(kEnginesSeed, Purpose::kTest, 2200);
  for (const Index w : {1, 2}) {
    Batch batch;
    batch.model = testing::random_hqmm({2, 3, w}, random);
    batch.options = {1, true, true};
    for (const std::vector<std::vector<Symbol>>& sequences :
         {std::vector<std::vector<Symbol>>{{}}, {{}, {}, {}}, {{2}}, {{0}, {}, {1}}}) {
      batch.set = testing::set_of(3, sequences);
      testing::expect_every_engine_as_naive(batch);
    }
    batch.set = testing::set_of(3, {});
    const BatchGradient none = batch.gradient_by(EngineKind::kAuto);
    EXPECT_EQ(none.scored, 0U);
    EXPECT_EQ(none.log_likelihood, 0.0);
  }
}

TEST(Engines, AgreeOnMissingSymbolsOnly) {
  RandomStream random(kEnginesSeed, Purpose::kTest, 2300);
  for (const bool feasible : {true, false}) {
    Batch batch;
    batch.model = testing::random_positional_hqmm({3, 3, 2}, PositionMap::Anchor::kEnd, random);
    if (!feasible) testing::make_infeasible(batch.model, random);
    batch.options = {3, true, true};
    batch.set = testing::set_of(
        3, {std::vector<Symbol>(40, kMissing), {kMissing, kMissing, kMissing, kMissing, 1}, {0}});
    testing::expect_every_engine_as_naive(batch);
  }
}

/// The cases above are to meet every engine, and steps of one, two and three symbols.
TEST(Engines, TheRandomShapesReachAllOfThem) {
  std::vector<int> lengths(4, 0);
  std::vector<int> chosen(7, 0);
  int shared = 0;
  std::vector<int> two_way(4, 0);
  for (std::uint64_t index = 0; index < 900; ++index) {
    RandomStream random(kEnginesSeed, Purpose::kTest, index);
    const Batch batch = random_batch(false, 4e6, random);
    const BatchShape shape = shape_of(batch.model, batch.views(), is_feasible(batch.model));
    const Choice choice = choose(shape, EngineKind::kAuto);
    ++chosen[static_cast<std::size_t>(choice.engine)];
    ++lengths[static_cast<std::size_t>(choice.word_length)];
    shared += choice.shared ? 1 : 0;
    if (choice.two_way) ++two_way[static_cast<std::size_t>(choice.word_length)];
  }
  EXPECT_EQ(chosen[static_cast<std::size_t>(EngineKind::kNaive)], 0);
  for (const EngineKind engine :
       {EngineKind::kFactor, EngineKind::kPure, EngineKind::kSuperoperator, EngineKind::kKraus})
    EXPECT_GE(chosen[static_cast<std::size_t>(engine)], 5) << name_of(engine);
  EXPECT_GE(shared, 20);
  EXPECT_GE(two_way[1], 20);
  EXPECT_GE(two_way[2] + two_way[3], 5);
  for (const std::size_t length : {1, 2, 3})
    EXPECT_GE(lengths[length], 5) << length << " symbols a step";
}

}  // namespace
}  // namespace hqmm::detail
