#include "hqmm/engine/cuda/cuda_engine.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/engine/cuda/cuda_errors.hpp"
#include "hqmm/engine/cuda/matrix_model.hpp"
#include "hqmm/engine/cuda/tile_pass.hpp"
#include "hqmm/engine/quantum/forms.hpp"
#include "hqmm/engine/quantum/hqmm_program.hpp"

namespace hqmm::detail {

namespace {

void check_status(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw_cuda_error(static_cast<int>(status), doing);
}

bool all_finite(const BatchGradient& g) {
  const auto finite = [](const auto& m) { return m.allFinite(); };
  return std::all_of(g.sets.begin(), g.sets.end(), finite) &&
         std::all_of(g.emissions.begin(), g.emissions.end(), finite) && finite(g.initial_state);
}

void require_feasible(const Hqmm& model) {
  if (!is_feasible(model))
    throw fail(
        ErrorCode::kUsage,
        "{}: the GPU engine is for trace-preserving models; this one is {:.3g} away from that",
        option("device", "cuda"), feasibility_residual(model));
}

}  // namespace

bool cuda_built() noexcept { return true; }

std::string cuda_device_name() {
  int device = 0, driver = 0, runtime = 0;
  check_status(cudaGetDevice(&device), "asking for the GPU");
  cudaDeviceProp properties{};
  check_status(cudaGetDeviceProperties(&properties, device), "asking for the GPU");
  check_status(cudaDriverGetVersion(&driver), "asking for the driver");
  check_status(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  return fmt::format("{}, CUDA {}.{}, driver for CUDA {}.{}", properties.name, runtime / 1000,
                     runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
}

struct CudaEngine::Contents {
  std::size_t memory = 0;
  Program program;
  MatrixModel matrices;
  MatrixResult found;
  TilePass tile;

  /// The pass over matrices that fits; false when a weight left the range that is safe at this
  /// pace.
  bool walk(const Hqmm& model, std::size_t pace, bool backward) {
    write_matrix_model(model, matrices);
    const DeviceBatch batch = device_batch(program);
    tile.run(matrices, batch, {.backward = backward, .pace = pace, .memory = memory}, found);
    return !found.failed;
  }
};

CudaEngine::CudaEngine(std::size_t memory) {
  std::size_t free = 0, all = 0;
  check_status(cudaMemGetInfo(&free, &all), "opening the GPU");
  contents_ = std::make_unique<Contents>();
  contents_->memory = memory == 0 ? free / 10 * 9 : std::min(memory, free / 10 * 9);
}
CudaEngine::CudaEngine(CudaEngine&&) noexcept = default;
CudaEngine& CudaEngine::operator=(CudaEngine&&) noexcept = default;
CudaEngine::~CudaEngine() = default;

BatchGradient CudaEngine::gradient(const Hqmm& model, std::span<const SequenceView> batch,
                                   const GradientOptions& options) {
  require_feasible(model);
  Contents& c = *contents_;
  write_program(model, batch, options, 1, c.program);
  const bool as_it_is = model.emits_on() == EmissionKind::kEdge || keeps_emission(model, c.program);
  const Hqmm free_model = as_it_is ? Hqmm{} : expanded(model);
  const Hqmm& walked = as_it_is ? model : free_model;
  for (const std::size_t pace : {std::size_t{16}, std::size_t{1}}) {
    BatchGradient out;
    if (!c.walk(walked, pace, true)) continue;
    write_gradient(walked, c.matrices, c.found, options.want_initial_state, out);
    if (!as_it_is) pull_back(model, out);
    if (!all_finite(out)) continue;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      out.scored += c.program.scored[i];
      out.raw_log_likelihood += c.found.log_likelihoods[i];
    }
    out.log_likelihood = out.raw_log_likelihood;
    return out;
  }
  throw NotFiniteError(
      {c.found.failed ? c.found.failed_sequence : 0, c.found.failed ? c.found.failed_step : 0});
}

std::vector<double> CudaEngine::log_likelihoods(const Hqmm& model,
                                                std::span<const SequenceView> batch,
                                                std::size_t burn_in) {
  require_feasible(model);
  Contents& c = *contents_;
  write_program(model, batch, GradientOptions{.burn_in = burn_in}, 1, c.program);
  const bool as_it_is = model.emits_on() == EmissionKind::kEdge || keeps_emission(model, c.program);
  const Hqmm free_model = as_it_is ? Hqmm{} : expanded(model);
  if (!c.walk(as_it_is ? model : free_model, 16, false) &&
      !c.walk(as_it_is ? model : free_model, 1, false))
    throw NotFiniteError({c.found.failed_sequence, c.found.failed_step});
  return std::move(c.found.log_likelihoods);
}

}  // namespace hqmm::detail
