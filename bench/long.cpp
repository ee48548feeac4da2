// One long sequence: scoring, and an iteration of Baum–Welch; on one thread and on two, the same
// bytes.
//
// Names: long/score/n=2/w=1/threads=1, long/hmm/n=6/w=1/threads=2, long/em/n=6/w=1/threads=1, and
// long/walk/n=8/w=1 for sequences just too short to be cut, one at a time.
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/engine/long_sequence.hpp"
#include "hqmm/learn/baum_welch.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

void count(benchmark::State& state, std::size_t symbols) {
  state.counters["symbols"] = static_cast<double>(symbols);
}

double score_of(const AnyModel& model, const SequenceSet& data, int threads) {
  return fast_log_likelihoods(model, data, 0, threads).front().log_likelihood;
}

void score(benchmark::State& state, const AnyModel& model, const SequenceSet& data, int threads) {
  if (score_of(model, data, threads) != score_of(model, data, 1)) {
    state.SkipWithError("the bytes depend on the threads");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(score_of(model, data, threads));
  count(state, data.symbol_count());
}

void score_case(benchmark::State& state, const Shape& shape, int threads) {
  const Work& work = work_of(shape);
  score(state, work.model, work.data, threads);
}

void hmm_case(benchmark::State& state, const Shape& shape, int threads) {
  const Work& work = work_of(shape);
  score(state, em_work(shape.n, static_cast<std::size_t>(shape.s)).start, work.data, threads);
}

void em_case(benchmark::State& state, const Shape& shape, int threads) {
  const Work& work = work_of(shape);
  TrainOptions options = default_options(LearnerKind::kEm);
  options.latent_dim = shape.n;
  options.threads = threads;
  BaumWelch learner(em_work(shape.n, static_cast<std::size_t>(shape.s)).start, work.data, options);
  for (auto _ : state)
    benchmark::DoNotOptimize(learner.run_epoch(0, [] { return false; }).log_likelihood);
  count(state, shape.length);
}

template <typename Case>
void add(const char* what, Case body, const Shape& shape) {
  for (const int threads : {1, 2}) {
    const std::string name =
        fmt::format("long/{}/n={}/w={}/threads={}", what, shape.n, shape.w, threads);
    benchmark::RegisterBenchmark(name.c_str(), body, shape, threads)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

void add_walk(const Shape& shape) {
  const std::string name = fmt::format("long/walk/n={}/w={}", shape.n, shape.w);
  benchmark::RegisterBenchmark(name.c_str(), score_case, shape, 1)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

Shape one_sequence(Index n, Index w, std::size_t length) {
  return {.n = n, .w = w, .batch = 1, .length = length};
}

[[maybe_unused]] const bool registered = [] {
  add("score", score_case, one_sequence(2, 1, 10'000'000));
  add("score", score_case, one_sequence(2, 2, 10'000'000));
  add("score", score_case, one_sequence(4, 2, 4'000'000));
  add("score", score_case, one_sequence(8, 1, 4'000'000));
  add("score", score_case, one_sequence(8, 4, 4'000'000));
  for (const auto& [n, w] : {std::pair<Index, Index>{2, 1}, {8, 1}, {8, 4}})
    add_walk(one_sequence(n, w, kLongSequence - 1));
  for (const Index n : {6, 32}) {
    add("hmm", hmm_case, one_sequence(n, 1, 4'000'000));
    add("em", em_case, one_sequence(n, 1, 4'000'000));
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
