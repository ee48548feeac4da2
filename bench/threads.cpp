// Two threads against one, on batches worth sharing; the answers must be the same bytes.
#include <fmt/core.h>

#include <cstring>

#include "hqmm/learn/baum_welch.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

bool same_bytes(const BatchGradient& a, const BatchGradient& b) {
  const auto bytes = static_cast<std::size_t>(a.sets[0].size()) * sizeof(Complex);
  return std::memcmp(&a.raw_log_likelihood, &b.raw_log_likelihood, sizeof(double)) == 0 &&
         std::memcmp(a.sets[0].data(), b.sets[0].data(), bytes) == 0;
}

void threads_case(benchmark::State& state, const Shape& shape, int threads) {
  const Work& work = work_of(shape);
  if (!same_bytes(gradient_of(work, EngineKind::kAuto, 1),
                  gradient_of(work, EngineKind::kAuto, threads))) {
    state.SkipWithError("the bytes depend on the threads");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(gradient_of(work, EngineKind::kAuto, threads).raw_log_likelihood);
  }
  count(state, shape);
}

/// An iteration of Baum–Welch: the E step, all but a little.
void em_case(benchmark::State& state, Index n, int threads) {
  const EmWork& work = em_work(n, 6);
  TrainOptions options = default_options(LearnerKind::kEm);
  options.latent_dim = n;
  options.threads = threads;
  BaumWelch learner(work.start, work.data, options);
  for (auto _ : state)
    benchmark::DoNotOptimize(learner.run_epoch(0, [] { return false; }).log_likelihood);
}

[[maybe_unused]] const bool registered = [] {
  for (const Index n : {6, 32}) {
    for (const int threads : {1, 2}) {
      benchmark::RegisterBenchmark(fmt::format("threads/em/n={}/threads={}", n, threads).c_str(),
                                   em_case, n, threads)
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  for (const auto& [n, w] : {std::pair<Index, Index>{2, 1}, {4, 2}, {6, 1}, {6, 4}, {8, 4}}) {
    for (const std::size_t batch : {64, 200}) {
      const Shape shape{.n = n, .w = w, .batch = batch};
      for (const int threads : {1, 2}) {
        benchmark::RegisterBenchmark(
            fmt::format("threads/{}/threads={}", name_of(shape), threads).c_str(), threads_case,
            shape, threads)
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
