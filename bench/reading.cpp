// Reading and scoring a text file of 100 million symbols: megabytes per second, and the memory it
// takes.
//
// HQMM_BENCH_SYMBOLS changes the size. Peak memory is the process's high-water mark, so these cases
// are registered in the order of what they need: reading first, then reading and scoring.
#include <fmt/core.h>

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "hqmm/core/random.hpp"
#include "hqmm/io/model_bytes.hpp"
#include "hqmm/io/sequences.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/score/score.hpp"

namespace {

using namespace hqmm;
using namespace hqmm::detail;

std::size_t symbol_count() {
  const char* given = std::getenv("HQMM_BENCH_SYMBOLS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 100'000'000;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// One line of digits and blanks, written in blocks; removed when the program ends.
class BigFile {
 public:
  BigFile()
      : path_(std::filesystem::temp_directory_path() / fmt::format("hqmm-bench-{}.txt", getpid())) {
    std::FILE* file = std::fopen(path_.c_str(), "w");
    RandomStream random(1, Purpose::kTest);
    std::string block;
    for (std::size_t done = 0; done < symbol_count(); ++done) {
      block += static_cast<char>('0' + random.below(6));
      block += ' ';
      if (block.size() >= 1 << 20 || done + 1 == symbol_count()) {
        std::fwrite(block.data(), 1, block.size(), file);
        block.clear();
      }
    }
    std::fclose(file);
  }
  ~BigFile() { std::filesystem::remove(path_); }
  BigFile(const BigFile&) = delete;
  BigFile& operator=(const BigFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const BigFile& big_file() {
  static const BigFile file;
  return file;
}

void report(benchmark::State& state, double peak_before) {
  const auto symbols = static_cast<double>(symbol_count());
  state.counters["MB/s"] =
      benchmark::Counter(2e-6 * symbols, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak_MB"] = peak_megabytes();
  state.counters["bytes_per_symbol"] = (peak_megabytes() - peak_before) * 1048576.0 / symbols;
}

void read_text(benchmark::State& state) {
  const std::string path = big_file().path();
  const double before = peak_megabytes();
  for (auto _ : state) {
    const SequenceSet set = read_sequences(path);
    benchmark::DoNotOptimize(set.symbol_count());
  }
  report(state, before);
}

void read_and_score(benchmark::State& state) {
  const std::string path = big_file().path();
  const double before = peak_megabytes();
  const AnyModel model = synthetic_hqmm();
  for (auto _ : state) {
    const SequenceSet set = read_sequences(path);
    benchmark::DoNotOptimize(score(model, set, {.burn_in = 0, .threads = 1}).log_likelihood);
  }
  report(state, before);
}

/// A small model file, from its bytes: what the sandbox of HDF5 and MATLAB files costs.
void read_model_file(benchmark::State& state, ModelFormat format) {
  const std::string bytes = serialize_model({AnyModel(synthetic_hqmm()), "{}"}, format);
  for (auto _ : state) benchmark::DoNotOptimize(parse_model(bytes, "model"));
}

}  // namespace

BENCHMARK_CAPTURE(read_model_file, hdf5, ModelFormat::kHdf5)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_model_file, mat, ModelFormat::kMat)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_model_file, json, ModelFormat::kJson)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(read_text)->Unit(benchmark::kSecond)->Iterations(3)->UseRealTime();
BENCHMARK(read_and_score)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
