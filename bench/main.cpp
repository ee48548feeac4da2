// Google Benchmark's main, with what the report needs to know of this build in the output's
// context.
#include <benchmark/benchmark.h>

#include "hqmm/core/simd.hpp"

#ifdef HQMM_BENCH_OPENBLAS
#include <cblas.h>
#endif

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("simd", hqmm::detail::simd_target());
  benchmark::AddCustomContext("compiler", HQMM_BENCH_COMPILER);
#ifdef HQMM_BENCH_OPENBLAS
  openblas_set_num_threads(1);
  benchmark::AddCustomContext("blas", openblas_get_config());
#endif
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
