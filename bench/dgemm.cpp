// The yardstick of arithmetic: OpenBLAS dgemm on one thread, C += AB with square matrices.
#ifdef HQMM_BENCH_OPENBLAS
#include <benchmark/benchmark.h>
#include <cblas.h>

#include <vector>

namespace {

void dgemm(benchmark::State& state) {
  const auto n = static_cast<blasint>(state.range(0));
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<double> a(size, 0.5);
  std::vector<double> b(size, 0.25);
  std::vector<double> c(size, 0.0);
  for (auto _ : state) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a.data(), n, b.data(), n,
                1.0, c.data(), n);
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["flop/s"] =
      benchmark::Counter(2.0 * static_cast<double>(n) * static_cast<double>(size),
                         benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

BENCHMARK(dgemm)->Arg(256)->Arg(512)->Arg(1024)->MeasureProcessCPUTime()->Unit(
    benchmark::kMillisecond);
#endif
