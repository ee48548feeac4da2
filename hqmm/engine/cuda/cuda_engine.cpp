#include "hqmm/engine/cuda/cuda_engine.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "hqmm/core/fail.hpp"
#include "hqmm/engine/cuda/cuda_errors.hpp"
#include "hqmm/engine/cuda/large_pass.hpp"
#include "hqmm/engine/cuda/matrix_model.hpp"
#include "hqmm/engine/cuda/small_pass.hpp"
#include "hqmm/engine/cuda/tile_pass.hpp"
#include "hqmm/engine/quantum/forms.hpp"
#include "hqmm/engine/quantum/hqmm_forward.hpp"
#include "hqmm/engine/quantum/hqmm_program.hpp"
#include "hqmm/model/hermitian_basis.hpp"

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

/// Steps from one rescaling to the next.
constexpr std::size_t kPace = 16, kCarefulPace = 1;

/// Likelihoods of sequences that the filter should be asked about are NaN.
std::vector<double> without_suspects(const std::vector<double>& found,
                                     const std::vector<char>& suspects) {
  std::vector<double> out = found;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (suspects[i] != 0) out[i] = std::numeric_limits<double>::quiet_NaN();
  return out;
}

bool is_small(const Hqmm& model) {
  return coordinate_count(model.latent_dim(), model.field == Field::kReal) <= kMostSmallRows;
}

void require_feasible(const Hqmm& model) {
  if (!is_feasible(model))
    throw fail(
        ErrorCode::kUsage,
        "{}: the GPU engine is for models that are trace preserving; this one is {:.3g} away from that",
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
  Forms forms;
  SmallResult small_found;
  SmallPass small;
  TilePass tile;
  LargePass large;

  /// The pass over coordinates; false when a weight left the range that is safe at this pace.
  bool walk_small(const Hqmm& model, std::span<const SequenceView> batch,
                  const GradientOptions& options, std::size_t pace, BatchGradient* out);
  /// The pass over matrices that fits, along the program; likewise.
  bool walk(const Hqmm& model, std::size_t pace, bool backward);
  bool walk_matrices(const Hqmm& model, const GradientOptions& options, std::size_t pace,
                     BatchGradient& out);
  /// Of the careful way.
  [[nodiscard]] NotFiniteError failure(bool of_small) const {
    if (of_small) {
      const LeastWeight& least = small_found.least;
      return NotFiniteError(
          small_found.failure.value_or(NotFinite{least.sequence, least.position}));
    }
    return NotFiniteError(found.failed ? NotFinite{found.failed_sequence, found.failed_step}
                                       : NotFinite{});
  }
};

bool CudaEngine::Contents::walk_small(const Hqmm& model, std::span<const SequenceView> batch,
                                      const GradientOptions& options, std::size_t pace,
                                      BatchGradient* out) {
  // the operators alone: their steps are found on the GPU
  program = {};
  program.offsets.assign(1, 0);
  program.base_operators = static_cast<std::uint32_t>(model.sets.size()) *
                           (static_cast<std::uint32_t>(model.alphabet_size()) + 1);
  program.missing = true;
  const Choice choice{.engine = EngineKind::kSuperoperator};
  const FormSource from{model, program, true, 1};
  const auto walk_form = [&](TraceForm& form) {
    const SmallModel small_model{.rows = static_cast<int>(form.rows()),
                                 .traced = static_cast<int>(model.latent_dim()),
                                 .stride = static_cast<int>(form.stride()),
                                 .symbols = static_cast<std::size_t>(model.alphabet_size()),
                                 .sets = model.sets.size(),
                                 .positions = &model.positions,
                                 .matrices = form.forward_matrix(0),
                                 .initial = form.initial()};
    const SmallOptions small_options{.burn_in = options.burn_in,
                                     .through_burn_in = options.through_burn_in,
                                     .tangent_only = options.tangent_only,
                                     .want_initial = options.want_initial_state,
                                     .backward = out != nullptr,
                                     .pace = pace,
                                     .suspect_below = out == nullptr ? kSuspectWeight : 0.0,
                                     .memory = memory};
    if (!small.run(small_model, batch, options.weights, small_options, small_found)) return false;
    if (out == nullptr) return true;
    ChainResult total;
    total.gradients.reset(form.gradient_count(), form.gradient_size());
    for (std::size_t op = 0; op < form.gradient_count(); ++op)
      if (small_found.used[op] != 0)
        total.gradients.add(op, small_found.gradients.data() + op * form.gradient_size());
    if (options.want_initial_state) total.initial = small_found.initial;
    forms.write_gradient(form, from, total, *out);
    return true;
  };
  return forms.with_form(choice, from, [&](auto& form) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(form)>, TraceForm>) {
      return walk_form(form);
    } else {
      return false;
    }
  });
}

bool CudaEngine::Contents::walk(const Hqmm& model, std::size_t pace, bool backward) {
  write_matrix_model(model, matrices);
  const DeviceBatch batch = device_batch(program);
  const MatrixOptions options{.backward = backward,
                              .pace = pace,
                              .memory = memory,
                              .suspect_below = backward ? 0.0 : kSuspectWeight};
  if (matrices.n <= (matrices.real ? kMostTileReal : kMostTileComplex)) {
    tile.run(matrices, batch, options, found);
  } else {
    large.run(matrices, batch, options, found);
  }
  return !found.failed;
}

bool CudaEngine::Contents::walk_matrices(const Hqmm& model, const GradientOptions& options,
                                         std::size_t pace, BatchGradient& out) {
  if (model.emits_on() == EmissionKind::kEdge || keeps_emission(model, program)) {
    if (!walk(model, pace, true)) return false;
    write_gradient(model, matrices, found, options.want_initial_state, out);
    return true;
  }
  const Hqmm free_model = expanded(model);
  if (!walk(free_model, pace, true)) return false;
  write_gradient(free_model, matrices, found, options.want_initial_state, out);
  pull_back(model, out);
  return true;
}

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
  const bool small = is_small(model);
  if (!small) write_program(model, batch, options, 1, 1, c.program);
  for (const std::size_t pace : {kPace, kCarefulPace}) {
    BatchGradient out;
    if (small ? !c.walk_small(model, batch, options, pace, &out)
              : !c.walk_matrices(model, options, pace, out))
      continue;
    if (!all_finite(out)) continue;
    const std::vector<double>& found =
        small ? c.small_found.log_likelihoods : c.found.log_likelihoods;
    const std::vector<std::uint64_t>& scored = small ? c.small_found.scored : c.program.scored;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      out.scored += scored[i];
      out.raw_log_likelihood += found[i];
    }
    out.log_likelihood = out.raw_log_likelihood;
    return out;
  }
  throw c.failure(small);
}

std::vector<double> CudaEngine::log_likelihoods(const Hqmm& model,
                                                std::span<const SequenceView> batch,
                                                std::size_t burn_in) {
  require_feasible(model);
  Contents& c = *contents_;
  const GradientOptions options{.burn_in = burn_in};
  if (is_small(model)) {
    if (!c.walk_small(model, batch, options, kPace, nullptr) &&
        !c.walk_small(model, batch, options, kCarefulPace, nullptr))
      throw c.failure(true);
    return without_suspects(c.small_found.log_likelihoods, c.small_found.suspects);
  }
  write_program(model, batch, options, 1, 1, c.program);
  const bool as_it_is = model.emits_on() == EmissionKind::kEdge || keeps_emission(model, c.program);
  const Hqmm free_model = as_it_is ? Hqmm{} : expanded(model);
  if (!c.walk(as_it_is ? model : free_model, kPace, false) &&
      !c.walk(as_it_is ? model : free_model, kCarefulPace, false))
    throw c.failure(false);
  return without_suspects(c.found.log_likelihoods, c.found.suspects);
}

}  // namespace hqmm::detail
