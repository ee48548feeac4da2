#include "hqmm/engine/cuda/cuda_errors.hpp"

#include <cuda_runtime_api.h>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

void throw_cuda_error(int status, const char* doing) {
  const auto error = static_cast<cudaError_t>(status);
  switch (error) {
    case cudaErrorNoDevice:
      throw fail(ErrorCode::kUsage, "{}: this machine has no GPU that CUDA can use",
                 option("device", "cuda"));
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorStubLibrary: {
      int driver = 0, runtime = 0;
      cudaDriverGetVersion(&driver);
      cudaRuntimeGetVersion(&runtime);
      if (driver == 0)
        throw fail(ErrorCode::kUsage, "{}: this machine has no NVIDIA driver",
                   option("device", "cuda"));
      throw fail(
          ErrorCode::kUsage,
          "{}: the NVIDIA driver is for CUDA {}.{}, this build needs {}.{}: update the driver",
          option("device", "cuda"), driver / 1000, driver % 1000 / 10, runtime / 1000,
          runtime % 1000 / 10);
    }
    case cudaErrorNoKernelImageForDevice:
      throw fail(
          ErrorCode::kUsage,
          "{}: this build has no code for this GPU: it needs one of the Hopper generation or "
          "later (compute capability 9.0)",
          option("device", "cuda"));
    case cudaErrorMemoryAllocation:
      throw fail(ErrorCode::kUsage, "{}: the GPU's memory is full: a smaller {} or {} needs less",
                 option("device", "cuda"), option("memory"), option("batch_size"));
    default:
      throw fail(ErrorCode::kInternal, "the GPU failed while {}: {}", doing,
                 cudaGetErrorString(error));
  }
}

void throw_gpu_memory(std::size_t bytes, std::size_t limit) {
  throw fail(ErrorCode::kUsage,
             "{}: the states of this batch need at least {} MB of the GPU's memory, {} MB may be "
             "used: a smaller {} needs less",
             option("memory"), bytes / 1'000'000 + 1, limit / 1'000'000, option("batch_size"));
}

}  // namespace hqmm::detail
