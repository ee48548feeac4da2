// Gradients by the GPU against the CPU's: random shapes of every kind, every option, and what the
// memory limit and a second run must not change.
#include <algorithm>
#include <cmath>

#include "compare.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kGpuSeed = 90;
constexpr std::uint64_t kShapes = 100;

/// Weights live beside the batch whose options look at them.
struct GpuCase {
  Batch batch;
  std::vector<double> weights;

  [[nodiscard]] std::string text() const {
    const Hqmm& model = batch.model;
    const GradientOptions& options = batch.options;
    return fmt::format(
        "{} {} n={} s={} w={} sets={} sequences={} longest={} burn-in {}{}{}{}{}",
        model.field == Field::kReal ? "real" : "complex",
        model.emits_on() == EmissionKind::kState ? "states" : "edges", model.latent_dim(),
        model.alphabet_size(), model.kraus_rank(), model.sets.size(), batch.set.size(),
        batch.set.longest(), options.burn_in, options.through_burn_in ? "" : " stopped",
        options.tangent_only ? " tangent" : "", options.want_initial_state ? " initial" : "",
        weights.empty() ? "" : " weights");
  }
};

bool chance(double share, RandomStream& random) { return random.uniform() < share; }

/// Up to n = 100, the small ones as often as the large; every kind of model in turn.
Shape random_shape(std::uint64_t index, RandomStream& random) {
  constexpr Index kLargest[] = {3, 8, 16, 32, 64, 100};
  const Index most = kLargest[random.below(std::size(kLargest))];
  Shape out{static_cast<Index>(1 + random.below(static_cast<std::uint64_t>(most))),
            static_cast<Index>(2 + random.below(29)), static_cast<Index>(1 + random.below(4))};
  out.field = index % 2 == 0 ? Field::kComplex : Field::kReal;
  out.emission = index / 2 % 2 == 0 ? EmissionKind::kEdge : EmissionKind::kState;
  return out;
}

Hqmm random_model(const Shape& shape, RandomStream& random) {
  const double kind = random.uniform();
  const auto anchor = kind < 0.15 ? PositionMap::Anchor::kStart : PositionMap::Anchor::kEnd;
  Hqmm model = kind < 0.3 ? testing::random_positional_hqmm(shape, anchor, random)
                          : testing::random_hqmm(shape, random);
  if (chance(0.25, random)) model.initial_state = random_pure_state(shape.n, random, shape.field);
  if (chance(0.25, random)) model.initial_state = maximally_mixed(shape.n);
  return model;
}

/// Structured models of rank one hardly forget: both engines soon are as far from the truth.
std::size_t longest_for(const Shape& shape) {
  if (shape.w > 1) return 200;
  if (shape.emission == EmissionKind::kState) return 7;
  return shape.field == Field::kReal ? 25 : 200;
}

/// So many sequences of ragged lengths that the CPU has about a second's work.
std::vector<std::size_t> random_lengths(const Shape& shape, RandomStream& random) {
  constexpr std::size_t kCounts[] = {1, 2, 5, 31, 32, 33, 64, 100, 300};
  const double cost =
      40.0 * std::pow(static_cast<double>(shape.n), 3) * static_cast<double>(shape.w);
  double left = 2e10 / cost;
  std::vector<std::size_t> out;
  const std::size_t count = kCounts[random.below(std::size(kCounts))];
  const bool equal = chance(0.3, random);
  while (out.size() < count && (out.empty() || left > 0.0)) {
    const std::size_t length =
        equal && !out.empty() ? out[0] : random.below(longest_for(shape) + 1);
    out.push_back(length);
    left -= static_cast<double>(length);
  }
  return out;
}

GpuCase random_case(std::uint64_t index) {
  RandomStream random(kGpuSeed, Purpose::kTest, index);
  GpuCase out;
  const Shape shape = random_shape(index, random);
  out.batch.model = random_model(shape, random);
  const double missing = chance(0.4, random) ? 0.15 : 0.0;
  out.batch.set = testing::set_of(
      shape.s, testing::random_sequences(random_lengths(shape, random), shape.s, random, missing));
  GradientOptions& options = out.batch.options;
  options.burn_in = chance(0.5, random) ? 0 : random.below(40);
  options.through_burn_in = chance(0.5, random);
  options.want_initial_state = chance(0.5, random);
  options.tangent_only = chance(0.3, random);
  if (chance(0.3, random)) {
    out.weights.resize(out.batch.set.size());
    for (double& weight : out.weights) weight = chance(0.2, random) ? 0.0 : random.normal();
  }
  return out;
}

/// The options look at the weights where they lie now.
Batch& settled(GpuCase& one) {
  one.batch.options.weights = one.weights;
  return one.batch;
}

TEST(GpuGradient, AgreesWithTheCpuOnRandomShapes) {
  CudaEngine engine;
  for (std::uint64_t index = 0; index < kShapes; ++index) {
    GpuCase one = random_case(index);
    SCOPED_TRACE(fmt::format("case {}: {}", index, one.text()));
    testing::expect_gpu_as_cpu(engine, settled(one));
  }
}

TEST(GpuGradient, IsTheSameBytesAgain) {
  CudaEngine engine;
  for (std::uint64_t index = 0; index < 24; ++index) {
    GpuCase one = random_case(1000 + index);
    SCOPED_TRACE(fmt::format("case {}: {}", index, one.text()));
    GradientOptions options = settled(one).options;
    options.gpu = &engine;
    const auto views = one.batch.views();
    const BatchGradient first = gradient(one.batch.model, views, options, 0);
    CudaEngine another;
    options.gpu = &another;
    testing::expect_identical(gradient(one.batch.model, views, options, 0), first);
  }
}

/// Little memory: states are computed again from those that were kept.
TEST(GpuGradient, IsTheSameInLittleMemory) {
  CudaEngine roomy;
  CudaEngine narrow(std::size_t{48} << 20);
  for (const Shape& shape :
       {Shape{2, 6, 1}, Shape{8, 4, 2}, Shape{32, 4, 2, Field::kComplex, EmissionKind::kEdge},
        Shape{64, 4, 1, Field::kReal, EmissionKind::kEdge},
        Shape{48, 9, 2, Field::kReal, EmissionKind::kState}}) {
    RandomStream random(kGpuSeed, Purpose::kTest, 2000 + static_cast<std::uint64_t>(shape.n));
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    const std::size_t length = shape.n < 16 ? 20000 : 700;
    const std::vector<std::size_t> lengths(20, length);
    batch.set = testing::set_of(shape.s, testing::random_sequences(lengths, shape.s, random));
    batch.options = {10, true, true};
    SCOPED_TRACE(fmt::format("n={}", shape.n));
    GradientOptions options = batch.options;
    options.gpu = &roomy;
    const BatchGradient all = gradient(batch.model, batch.views(), options, 0);
    options.gpu = &narrow;
    const BatchGradient some = gradient(batch.model, batch.views(), options, 0);
    testing::expect_near(some.log_likelihood, all.log_likelihood, "log-likelihood");
    for (std::size_t k = 0; k < all.sets.size(); ++k)
      testing::expect_near(some.sets[k], all.sets[k], "a set");
  }
}

TEST(GpuGradient, OfEmptySequencesIsZero) {
  CudaEngine engine;
  RandomStream random(kGpuSeed, Purpose::kTest, 3000);
  for (const Index n : {2, 8, 40}) {
    Batch batch;
    batch.model = testing::random_hqmm({n, 3, 2}, random);
    batch.set = testing::set_of(3, {{}, {}, {}});
    testing::expect_gpu_as_cpu(engine, batch);
    batch.set = testing::set_of(3, {{}, {0, 1, 2, kMissing}, {}, {kMissing, kMissing}});
    testing::expect_gpu_as_cpu(engine, batch);
    batch.options.burn_in = 10;
    testing::expect_gpu_as_cpu(engine, batch);
  }
}

TEST(GpuGradient, IsForTracePreservingModels) {
  CudaEngine engine;
  RandomStream random(kGpuSeed, Purpose::kTest, 4000);
  for (const Index n : {2, 8, 40}) {
    Batch batch;
    batch.model = testing::random_hqmm({n, 3, 2}, random);
    testing::make_infeasible(batch.model, random);
    batch.set = testing::set_of(3, {{0, 1, 2}});
    GradientOptions options;
    options.gpu = &engine;
    testing::expect_error(ErrorCode::kUsage, "trace preserving", [&] {
      static_cast<void>(gradient(batch.model, batch.views(), options, 1));
    });
  }
}

}  // namespace
}  // namespace hqmm::detail
