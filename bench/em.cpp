// One Baum–Welch iteration over 200 sequences of 300 symbols, one thread: the work bench/peers/
// gives to others.
#include "hqmm/learn/baum_welch.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

void em(benchmark::State& state, Index n, std::size_t s) {
  const EmWork& work = em_work(n, s);
  TrainOptions options = default_options(LearnerKind::kEm);
  options.latent_dim = n;
  options.threads = 1;
  BaumWelch learner(work.start, work.data, options);
  for (auto _ : state) {
    benchmark::DoNotOptimize(learner.run_epoch(0, [] { return false; }).log_likelihood);
  }
  state.counters["sym/s"] = benchmark::Counter(static_cast<double>(work.data.symbol_count()),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

[[maybe_unused]] const bool registered = [] {
  for (const auto& [n, s] : {std::pair<Index, std::size_t>{6, 6}, {32, 20}}) {
    benchmark::RegisterBenchmark(fmt::format("em/n={}/s={}", n, s).c_str(), em, n, s)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
