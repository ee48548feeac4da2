// What the GPU engine is measured by, as one program that needs few libraries, so that it can be
// taken to a machine with a GPU: seconds of gradient() by the clock on the wall, for whole batches,
// with all that goes up and comes down.
//
//   hqmm_bench_cuda FOLDER   writes FOLDER/cuda.json, and for each case the work itself and our
//   answer (CASE.json,
//                            CASE.bin), which peers/torch_cuda.py repeats
//
// The yardstick is cuBLAS's own dgemm, loaded where it is installed.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/engine/cuda/cuda_engine.hpp"
#include "hqmm/model/random_models.hpp"

namespace {

using namespace hqmm;
using namespace hqmm::detail;
using Json = nlohmann::ordered_json;

/// A case, and what is asked of it.
struct Case {
  const char* name;
  Index n, w, s;
  std::size_t batch, length;
  Field field;
  EmissionKind emission;
  double share_of_dgemm;  // bars; 0: none
  double against_core;
  double against_torch;
};

constexpr Case kCases[] = {
    {"real-state-n180", 180, 2, 50, 64, 300, Field::kReal, EmissionKind::kState, 0.70, 0, 0},
    {"complex-edge-n64", 64, 2, 6, 512, 300, Field::kComplex, EmissionKind::kEdge, 0.50, 0, 0},
    {"complex-edge-n32", 32, 2, 6, 512, 300, Field::kComplex, EmissionKind::kEdge, 0.35, 0, 0},
    {"complex-edge-n4", 4, 2, 6, 4096, 300, Field::kComplex, EmissionKind::kEdge, 0, 20, 10},
    {"complex-edge-n2", 2, 1, 6, 4096, 300, Field::kComplex, EmissionKind::kEdge, 0, 20, 10},
};

struct CaseWork {
  Hqmm model;
  SequenceSet data;
  std::vector<SequenceView> batch;
};

CaseWork work_of(const Case& c) {
  RandomStream random(1, Purpose::kTest, static_cast<std::uint64_t>(c.n),
                      static_cast<std::uint64_t>(c.w));
  CaseWork out;
  KrausSet set = c.emission == EmissionKind::kEdge
                     ? random_kraus(c.s, c.w, c.n, random, c.field)
                     : random_state_kraus(c.s, c.w, c.n, random, c.field);
  const auto alphabet = Alphabet::integers(static_cast<std::size_t>(c.s));
  out.model = stationary_hqmm(alphabet, std::move(set), maximally_mixed(c.n), c.field);
  out.data = SequenceSet(alphabet);
  for (std::size_t i = 0; i < c.batch; ++i) {
    for (std::size_t t = 0; t < c.length; ++t)
      out.data.push_back(static_cast<Symbol>(random.below(alphabet.size())));
    out.data.end_sequence();
  }
  for (std::size_t i = 0; i < c.batch; ++i) out.batch.push_back(out.data[i]);
  return out;
}

/// The middle of `repeats` runs after one that nobody times.
template <typename Run>
double seconds_of(const Run& run, int repeats) {
  run();
  std::vector<double> found;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    found.push_back(gone.count());
  }
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

double distance(const BatchGradient& a, const BatchGradient& b) {
  double out = std::abs(a.log_likelihood / b.log_likelihood - 1.0);
  for (std::size_t i = 0; i < b.sets.size(); ++i)
    out = std::max(out, (a.sets[i] - b.sets[i]).norm() / b.sets[i].norm());
  for (std::size_t i = 0; i < b.emissions.size(); ++i)
    out = std::max(out, (a.emissions[i] - b.emissions[i]).norm() / b.emissions[i].norm());
  return out;
}

// ---- the yardstick
// ---------------------------------------------------------------------------------

void* library_of_cublas() {
  for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
    if (void* library = ::dlopen(name, RTLD_NOW)) return library;
  return nullptr;
}

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// Operations a second in the products of square matrices where cuBLAS is fastest; 0 without it.
double dgemm_rate() {
  void* library = library_of_cublas();
  if (library == nullptr) return 0.0;
  const auto create = symbol<decltype(&cublasCreate_v2)>(library, "cublasCreate_v2");
  const auto dgemm = symbol<decltype(&cublasDgemm_v2)>(library, "cublasDgemm_v2");
  cublasHandle_t handle = nullptr;
  if (create == nullptr || dgemm == nullptr || create(&handle) != CUBLAS_STATUS_SUCCESS) return 0.0;
  double best = 0.0;
  for (const int size : {4096, 8192, 12288}) {
    const std::size_t entries = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    double* memory = nullptr;
    if (cudaMalloc(reinterpret_cast<void**>(&memory), 3 * entries * sizeof(double)) != cudaSuccess)
      break;
    // Numbers of every size cost the power that real work does; zeros do not.
    std::vector<double> numbers(2 * entries);
    RandomStream random(2, Purpose::kTest, 0);
    for (double& number : numbers) number = random.uniform() - 0.5;
    cudaMemcpy(memory, numbers.data(), 2 * entries * sizeof(double), cudaMemcpyHostToDevice);
    const double one = 1.0, zero = 0.0;
    const auto run = [&] {
      for (int i = 0; i < 4; ++i) {
        dgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, memory, size,
              memory + entries, size, &zero, memory + 2 * entries, size);
      }
      cudaDeviceSynchronize();
    };
    const double operations = 4.0 * 2.0 * static_cast<double>(entries) * size;
    best = std::max(best, operations / seconds_of(run, 7));
    cudaFree(memory);
  }
  return best;
}

// ---- a case
// ----------------------------------------------------------------------------------------

/// Two products of n × n matrices forward, two back and one for the gradient, for each operator; a
/// complex multiply-add is four.
double operations_of(const Case& c) {
  const double n = static_cast<double>(c.n);
  const double adds = 5.0 * static_cast<double>(c.w) * n * n * n;
  return 2.0 * adds * (c.field == Field::kComplex ? 4.0 : 1.0) * static_cast<double>(c.batch) *
         static_cast<double>(c.length);
}

template <typename T>
void append(std::ofstream& file, const T* data, std::size_t count) {
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(count * sizeof(T)));
}

/// Row by row, complex: Γ (or V), then C, the symbols, and our gradients by Γ and C.
void export_case(const std::string& folder, const Case& c, const CaseWork& work,
                 const BatchGradient& answer) {
  std::ofstream file(folder + "/" + c.name + ".bin", std::ios::binary);
  const KrausSet& set = work.model.sets[0];
  const auto put = [&](const auto& matrix) {
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index j = 0; j < matrix.cols(); ++j) {
        const Complex value(matrix(i, j));
        append(file, &value, 1);
      }
  };
  put(set.stack());
  if (c.emission == EmissionKind::kState) put(set.emission());
  for (const SequenceView& sequence : work.batch)
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const auto y = static_cast<std::int64_t>(sequence[t]);
      append(file, &y, 1);
    }
  put(answer.sets[0]);
  if (c.emission == EmissionKind::kState) put(answer.emissions[0]);
}

Json run_case(const std::string& folder, const Case& c, double dgemm) {
  const CaseWork work = work_of(c);
  CudaEngine engine;
  GradientScratch scratch;
  GradientOptions on_gpu, on_core;
  on_gpu.gpu = &engine;
  on_gpu.tangent_only = on_core.tangent_only = true;
  // The oracle takes as many sequences as a core has patience for.
  const std::size_t some = std::min<std::size_t>(c.batch, c.n > 16 ? 2 : 256);
  const std::span<const SequenceView> few(work.batch.data(), some);
  const double error = distance(gradient(work.model, few, on_gpu, 0, scratch),
                                gradient(work.model, few, on_core, 0, scratch));
  BatchGradient found;
  const double seconds =
      seconds_of([&] { found = gradient(work.model, work.batch, on_gpu, 0, scratch); }, 9);
  export_case(folder, c, work, found);
  Json out;
  out["case"] = c.name;
  out["field"] = c.field == Field::kReal ? "real" : "complex";
  out["emission"] = c.emission == EmissionKind::kState ? "state" : "edge";
  for (const auto& [key, value] : {std::pair<const char*, std::size_t>{"n", c.n},
                                   {"w", c.w},
                                   {"s", c.s},
                                   {"batch", c.batch},
                                   {"length", c.length}})
    out[key] = value;
  out["loss"] = -found.log_likelihood;
  out["error"] = error;
  out["seconds"] = seconds;
  out["flop_per_second"] = operations_of(c) / seconds;
  if (dgemm > 0.0) out["share_of_dgemm"] = operations_of(c) / seconds / dgemm;
  const double core =
      seconds_of([&] { static_cast<void>(gradient(work.model, few, on_core, 1, scratch)); }, 3);
  out["core_seconds"] = core * static_cast<double>(c.batch) / static_cast<double>(some);
  out["core_sequences"] = some;
  out["bars"] = {{"share_of_dgemm", c.share_of_dgemm},
                 {"against_core", c.against_core},
                 {"against_torch", c.against_torch}};
  std::ofstream(folder + "/" + c.name + ".json") << out.dump(1) << "\n";
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: hqmm_bench_cuda FOLDER\n");
    return 2;
  }
  try {
    const std::string folder = argv[1];
    Json out;
    out["device"] = cuda_device_name();
    out["simd"] = simd_target();
    const double dgemm = dgemm_rate();
    out["dgemm"] = dgemm;
    std::printf("%s: dgemm %.1f TFLOP/s\n", cuda_device_name().c_str(), dgemm / 1e12);
    out["cases"] = Json::array();
    for (const Case& c : kCases) {
      const Json row = run_case(folder, c, dgemm);
      std::printf("%-18s %9.3f ms  %5.1f TFLOP/s (%3.0f%% of dgemm)  %6.1f x a core  error %.1e\n",
                  c.name, 1e3 * row["seconds"].get<double>(),
                  row["flop_per_second"].get<double>() / 1e12,
                  100.0 * row.value("share_of_dgemm", 0.0),
                  row["core_seconds"].get<double>() / row["seconds"].get<double>(),
                  row["error"].get<double>());
      std::fflush(stdout);
      out["cases"].push_back(row);
      std::ofstream(folder + "/cuda.json") << out.dump(1) << "\n";
    }
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "hqmm_bench_cuda: %s\n", error.what());
    return exit_status(error.code());
  }
}
