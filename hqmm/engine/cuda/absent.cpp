// The GPU engine of a build without CUDA: it says how to get one.
#include "hqmm/core/fail.hpp"
#include "hqmm/engine/cuda/cuda_engine.hpp"
#include "hqmm/engine/device.hpp"

namespace hqmm::detail {
namespace {

Error no_engine() {
  return fail(
      ErrorCode::kUsage,
      "this hqmm was built without the GPU engine; install the CUDA toolkit 12 or later and "
      "build again");
}

}  // namespace

struct CudaEngine::Contents {};

bool cuda_built() noexcept { return false; }

std::string cuda_device_name() { throw no_engine(); }

std::string cuda_version_text() { return "not built"; }

CudaEngine::CudaEngine(std::size_t) { throw no_engine(); }
CudaEngine::CudaEngine(CudaEngine&&) noexcept = default;
CudaEngine& CudaEngine::operator=(CudaEngine&&) noexcept = default;
CudaEngine::~CudaEngine() = default;

BatchGradient CudaEngine::gradient(const Hqmm&, std::span<const SequenceView>,
                                   const GradientOptions&) {
  throw no_engine();
}

std::vector<double> CudaEngine::log_likelihoods(const Hqmm&, std::span<const SequenceView>,
                                                std::size_t) {
  throw no_engine();
}

}  // namespace hqmm::detail
