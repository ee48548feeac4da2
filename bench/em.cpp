// One Baum–Welch iteration over 200 sequences of 300 symbols, one thread: the work bench/peers/
// gives to others; and one of a model that emits on its edges beside an ordinary one of as many
// parameters.
//
// Names: em/n=6/s=6, and em/edges/n=17/s=4.
#include "hqmm/core/random.hpp"
#include "hqmm/learn/baum_welch.hpp"
#include "hqmm/learn/edge_baum_welch.hpp"
#include "hqmm/model/random_models.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

template <typename Learner>
void iterate(benchmark::State& state, Learner learner, const SequenceSet& data) {
  for (auto _ : state)
    benchmark::DoNotOptimize(learner.run_epoch(0, [] { return false; }).log_likelihood);
  state.counters["sym/s"] = benchmark::Counter(static_cast<double>(data.symbol_count()),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

TrainOptions em_options(Index n) {
  TrainOptions options = default_options(LearnerKind::kEm);
  options.latent_dim = n;
  options.threads = 1;
  return options;
}

void em(benchmark::State& state, Index n, std::size_t s) {
  const EmWork& work = em_work(n, s);
  iterate(state, BaumWelch(work.start, work.data, em_options(n)), work.data);
}

void em_of_edges(benchmark::State& state, Index n, std::size_t s) {
  const EmWork& work = em_work(n, s);
  RandomStream random(2, Purpose::kTest, static_cast<std::uint64_t>(n), s);
  const EdgeHmm start = random_edge_hmm(work.start.alphabet, n, random);
  iterate(state, EdgeBaumWelch(start, work.data, em_options(n)), work.data);
}

[[maybe_unused]] const bool registered = [] {
  for (const auto& [n, s] : {std::pair<Index, std::size_t>{6, 6}, {32, 20}, {28, 4}}) {
    benchmark::RegisterBenchmark(fmt::format("em/n={}/s={}", n, s).c_str(), em, n, s)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RegisterBenchmark("em/edges/n=17/s=4", em_of_edges, 17, 4)
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
