#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "hqmm/engine/device.hpp"

namespace hqmm::detail {

std::string cuda_version_text() {
  return fmt::format("with CUDA {}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

}  // namespace hqmm::detail
