// How the cost grows: with the number of symbols, 10⁴ to 10⁸ in one call, and with n and w.
//
// HQMM_BENCH_SYMBOLS changes the largest count, for machines with little time.
#include <fmt/core.h>

#include <cstdlib>

#include "hqmm/core/random.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

constexpr std::size_t kLength = 300;

std::size_t largest_count() {
  const char* given = std::getenv("HQMM_BENCH_SYMBOLS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 100'000'000;
}

/// Uniform symbols, cut into sequences of 300; smaller counts take the first of them.
struct ManySequences {
  SequenceSet data{Alphabet::integers(6)};
  std::vector<SequenceView> views;

  ManySequences() {
    RandomStream random(1, Purpose::kTest);
    for (std::size_t i = 0; i < largest_count() / kLength; ++i) {
      for (std::size_t t = 0; t < kLength; ++t) {
        data.push_back(static_cast<Symbol>(random.below(6)));
      }
      data.end_sequence();
    }
    for (std::size_t i = 0; i < data.size(); ++i) views.push_back(data[i]);
  }
};

void by_symbols(benchmark::State& state, Index n, Index w, std::size_t symbols) {
  static const ManySequences many;
  const Hqmm& model = work_of({.n = n, .w = w}).model;
  const std::span<const SequenceView> batch(many.views.data(), symbols / kLength);
  GradientScratch scratch;
  for (auto _ : state) {
    benchmark::DoNotOptimize(gradient(model, batch, {}, 1, scratch).raw_log_likelihood);
  }
  state.counters["symbols"] = static_cast<double>(batch.size() * kLength);
}

void by_shape(benchmark::State& state, const Shape& shape) {
  const Work& work = work_of(shape);
  for (auto _ : state) {
    benchmark::DoNotOptimize(gradient_of(work, EngineKind::kAuto).raw_log_likelihood);
  }
  count(state, shape);
  state.SetLabel(chosen_form(work));
}

[[maybe_unused]] const bool registered = [] {
  for (std::size_t symbols = 10'000; symbols <= largest_count(); symbols *= 10) {
    for (const auto& [n, w] : {std::pair<Index, Index>{2, 1}, {4, 2}}) {
      auto* entry = benchmark::RegisterBenchmark(
          fmt::format("scaling/symbols={}/n={}/w={}", symbols, n, w).c_str(), by_symbols, n, w,
          symbols);
      entry->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
      if (symbols >= 10'000'000) entry->Iterations(1);
    }
  }
  for (const Index w : {1, 2, 4}) {
    for (const Index n : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48}) {
      if (n == 48 && w > 1) continue;  // seconds
      const Shape shape{.n = n, .w = w};
      benchmark::RegisterBenchmark(fmt::format("scaling/{}", name_of(shape)).c_str(), by_shape,
                                   shape)
          ->MeasureProcessCPUTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
