#include "hqmm/engine/device.hpp"
#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

void require_device(DeviceKind kind) {
  if (kind == DeviceKind::kCuda) static_cast<void>(cuda_device_name());
}

std::unique_ptr<CudaEngine> open_device(DeviceKind kind, std::size_t memory) {
  if (kind == DeviceKind::kCpu) return nullptr;
  return std::make_unique<CudaEngine>(memory);
}

int jobs_on(DeviceKind kind, int threads) noexcept {
  return kind == DeviceKind::kCuda ? 1 : threads;
}

std::string device_name(DeviceKind kind) {
  return kind == DeviceKind::kCuda ? cuda_device_name() : std::string();
}

Error gpu_knows_no(std::string_view what) {
  return fail(ErrorCode::kUsage, "the GPU engine does not know {}: use {}", what,
              option("device", "cpu"));
}

}  // namespace hqmm::detail
