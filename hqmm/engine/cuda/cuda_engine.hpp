// CudaEngine: loss, gradient and likelihoods of batches on an NVIDIA GPU, in FP64.
//
// The numbers are those of the CPU's engines up to rounding (1e-10 relative); the same GPU gives
// the same bytes run after run. Operators go up for every batch, symbols once; sums come down.
// Three passes, chosen by the model's size:
//
//   small    ρ as at most 64 real coordinates     a few lanes per sequence, operators in shared
//                                                 memory
//   tile     ρ fits the shared memory of one      one thread block per sequence, all steps in one
//            multiprocessor                       launch, FP64 tensor cores
//   large    any other                            two products per step for the whole batch
//
// A build without CUDA has this class too: it says so when it is made.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

/// Whether this build has the GPU engine.
[[nodiscard]] bool cuda_built() noexcept;

/// The GPU that a CudaEngine would use and the versions of driver and runtime, for people and
/// provenance. Throws kUsage when there is none that can be used, with what to do about it.
[[nodiscard]] std::string cuda_device_name();

class CudaEngine {
 public:
  /// Opens the GPU. `memory`: the most bytes of its memory to use for states; 0: what is free.
  /// Throws kUsage without a GPU or with a driver that is too old.
  explicit CudaEngine(std::size_t memory = 0);
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  CudaEngine(CudaEngine&&) noexcept;
  CudaEngine& operator=(CudaEngine&&) noexcept;
  ~CudaEngine();

  /// As gradient() of engine/quantum/gradient.hpp, for a feasible model; `options.engine` is not
  /// looked at. Throws NotFiniteError as it does; kUsage for a model that is not trace preserving
  /// or too large for the memory; kInternal when the device fails.
  [[nodiscard]] BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                                       const GradientOptions& options);

  /// The log-likelihood of every sequence; the first burn_in symbols move the state and are not
  /// scored. NaN where a symbol was so improbable that only the filter can tell how much
  /// (kSuspectWeight).
  [[nodiscard]] std::vector<double> log_likelihoods(const Hqmm& model,
                                                    std::span<const SequenceView> batch,
                                                    std::size_t burn_in);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace hqmm::detail
