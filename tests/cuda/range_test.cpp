// Likelihoods by the GPU, and probabilities at the ends of what a double holds: the careful walk.
#include <cmath>

#include "compare.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::Batch;
using testing::Shape;

constexpr std::uint64_t kGpuRangeSeed = 91;

/// A feasible model whose last symbol has an amplitude of this size.
Hqmm model_with_a_rare_symbol(const Shape& shape, double amplitude, RandomStream& random) {
  const KrausSet usual = random_kraus(shape.s - 1, shape.w, shape.n, random);
  const KrausSet rare = random_kraus(1, shape.w, shape.n, random);
  KrausSet set(shape.s, shape.w, shape.n);
  set.gamma().topRows(usual.gamma().rows()) = usual.gamma();
  set.gamma().bottomRows(rare.gamma().rows()) = amplitude * rare.gamma();
  return stationary_hqmm(Alphabet::integers(static_cast<std::size_t>(shape.s)), std::move(set),
                         random_density_matrix(shape.n, random));
}

/// Every symbol's part of the gradient to its own size.
void expect_every_symbol(CudaEngine& engine, const Batch& batch, double amplitude) {
  const auto [gpu, cpu] = testing::both_gradients(engine, batch);
  testing::expect_near(gpu.log_likelihood, cpu.log_likelihood, "log-likelihood");
  const Index rows = batch.model.kraus_rank() * batch.model.latent_dim();
  const Index usual = (batch.model.alphabet_size() - 1) * rows;
  testing::expect_near(Stack(gpu.sets[0].topRows(usual)), Stack(cpu.sets[0].topRows(usual)),
                       "usual symbols");
  testing::expect_near(Stack(amplitude * gpu.sets[0].bottomRows(rows)),
                       Stack(amplitude * cpu.sets[0].bottomRows(rows)), "the rare symbol");
}

TEST(GpuRange, ASymbolThatIsHardlyEverSeenIsWorkedThrough) {
  CudaEngine engine;
  std::uint64_t index = 0;
  for (const Shape& shape : {Shape{1, 2, 1}, Shape{2, 3, 1}, Shape{2, 3, 3}, Shape{4, 3, 4},
                             Shape{6, 4, 2}, Shape{9, 3, 1}, Shape{24, 3, 2}, Shape{70, 3, 2}}) {
    for (const double amplitude : {1e-5, 1e-20, 1e-100, 1e-150}) {
      RandomStream random(kGpuRangeSeed, Purpose::kTest, ++index);
      Batch batch;
      batch.model = model_with_a_rare_symbol(shape, amplitude, random);
      batch.options = {2, true, true};
      const auto rare = static_cast<Symbol>(shape.s - 1);
      auto sequences = testing::random_sequences({40, 60, 60, 60}, shape.s - 1, random);
      for (std::size_t i = 0; i < 9; ++i) sequences[2][10 + i] = rare;
      for (std::size_t i = 0; i < 9; ++i) sequences[3][(5 + 7 * i) % 60] = rare;
      batch.set = testing::set_of(shape.s, sequences);
      SCOPED_TRACE(fmt::format("n={} w={} amplitude {}", shape.n, shape.w, amplitude));
      expect_every_symbol(engine, batch, amplitude);
    }
  }
}

TEST(GpuRange, LongSequences) {
  CudaEngine engine;
  for (const Shape& shape : {Shape{2, 4, 1}, Shape{4, 6, 2}, Shape{12, 4, 2}}) {
    RandomStream random(kGpuRangeSeed, Purpose::kTest, 1000 + static_cast<std::uint64_t>(shape.n));
    Batch batch;
    batch.model = testing::random_hqmm(shape, random);
    batch.set =
        testing::set_of(shape.s, testing::random_sequences({100000, 50000}, shape.s, random));
    SCOPED_TRACE(fmt::format("n={}", shape.n));
    testing::expect_gpu_as_cpu(engine, batch);
  }
}

void expect_same_likelihoods(CudaEngine& engine, const Hqmm& model, const SequenceSet& set,
                             std::size_t burn_in) {
  const auto cpu = fast_log_likelihoods(model, set, burn_in, 0);
  const auto gpu = fast_log_likelihoods(model, set, burn_in, 0, {}, &engine);
  ASSERT_EQ(gpu.size(), cpu.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    SCOPED_TRACE(fmt::format("sequence {}", i));
    EXPECT_EQ(gpu[i].scored, cpu[i].scored);
    EXPECT_EQ(gpu[i].impossible_at, cpu[i].impossible_at);
    if (std::isfinite(cpu[i].log_likelihood)) {
      testing::expect_near(gpu[i].log_likelihood, cpu[i].log_likelihood, "log-likelihood");
    } else {
      EXPECT_EQ(gpu[i].log_likelihood, cpu[i].log_likelihood);
    }
    EXPECT_EQ(gpu[i].raw_log_likelihood, gpu[i].log_likelihood);
  }
}

TEST(GpuLikelihoods, AgreeWithTheCpu) {
  CudaEngine engine;
  std::uint64_t index = 2000;
  for (const Index n : {1, 2, 3, 5, 8, 9, 16, 33, 90}) {
    for (const Shape& shape : testing::of_every_kind({n, 5, 2})) {
      RandomStream random(kGpuRangeSeed, Purpose::kTest, ++index);
      Hqmm model = index % 3 == 0
                       ? testing::random_positional_hqmm(shape, PositionMap::Anchor::kEnd, random)
                       : testing::random_hqmm(shape, random);
      const auto sequences = testing::random_sequences({0, 1, 7, 16, 17, 90, 300, 33}, shape.s,
                                                       random, index % 2 == 0 ? 0.1 : 0.0);
      SCOPED_TRACE(fmt::format("n={} case {}", n, index));
      expect_same_likelihoods(engine, model, testing::set_of(shape.s, sequences), index % 4 * 5);
    }
  }
}

/// Symbols that cannot come are found as on the CPU: by the filter.
TEST(GpuLikelihoods, FindWhatIsImpossible) {
  CudaEngine engine;
  for (const Index n : {2, 4, 12, 80}) {
    RandomStream random(kGpuRangeSeed, Purpose::kTest, 3000 + static_cast<std::uint64_t>(n));
    const Hqmm model = model_with_a_rare_symbol({n, 3, 2}, 0.0, random);
    auto sequences = testing::random_sequences({40, 40, 40}, 2, random);
    sequences[1][20] = 2;
    SCOPED_TRACE(fmt::format("n={}", n));
    expect_same_likelihoods(engine, model, testing::set_of(3, sequences), 3);
  }
}

/// The filter tells how improbable they are, so both devices give the same number to the last bit.
TEST(GpuLikelihoods, ImprobableSymbolsAreTheFilters) {
  CudaEngine engine;
  for (const Index n : {2, 4, 12, 40, 80}) {
    RandomStream random(kGpuRangeSeed, Purpose::kTest, 5000 + static_cast<std::uint64_t>(n));
    const Hqmm model = model_with_a_rare_symbol({n, 3, 2}, 1e-6, random);
    auto sequences = testing::random_sequences({40, 50, 40, 17, 30}, 2, random);
    sequences[1][20] = 2;
    sequences[3][16] = 2;  // the last symbol, after a rescaling
    const SequenceSet set = testing::set_of(3, sequences);
    SCOPED_TRACE(fmt::format("n={}", n));
    expect_same_likelihoods(engine, model, set, 0);
    const auto cpu = fast_log_likelihoods(model, set, 0, 0);
    const auto gpu = fast_log_likelihoods(model, set, 0, 0, {}, &engine);
    for (const std::size_t i : {1, 3}) EXPECT_EQ(gpu[i].log_likelihood, cpu[i].log_likelihood);
  }
}

TEST(GpuGradientRange, NamesTheSequenceThatIsImpossible) {
  CudaEngine engine;
  for (const Index n : {2, 4, 12, 80}) {
    RandomStream random(kGpuRangeSeed, Purpose::kTest, 4000 + static_cast<std::uint64_t>(n));
    Batch batch;
    batch.model = model_with_a_rare_symbol({n, 3, 2}, 0.0, random);
    auto sequences = testing::random_sequences({40, 40, 40}, 2, random);
    sequences[1][20] = 2;
    batch.set = testing::set_of(3, sequences);
    GradientOptions options;
    options.gpu = &engine;
    SCOPED_TRACE(fmt::format("n={}", n));
    try {
      static_cast<void>(gradient(batch.model, batch.views(), options, 1));
      ADD_FAILURE() << "no error";
    } catch (const NotFiniteError& error) {
      EXPECT_EQ(error.place().sequence, 1U);
      EXPECT_EQ(error.place().position, 20U);
    }
  }
}

}  // namespace
}  // namespace hqmm::detail
