// The inner loops of the lanes engine: up to four sequences side by side, 4 × 4 matrices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hqmm::detail {

inline constexpr std::size_t kLanesSide = 4;  // sequences side by side

/// One sequence, or kLanesSide of one length, and a stretch of their steps.
struct LanesStretch {
  const double* matrices = nullptr;  // R forward, Rᵀ backward
  const std::uint32_t* steps[kLanesSide] = {};
  double* states[kLanesSide] = {};  // [step][4]
  double* adjoints[kLanesSide] = {};
  double* gradients = nullptr;
  std::size_t from = 0, to = 0;
};

struct LanesKernels {
  /// States before each step from those before the first.
  void (*forward)(const LanesStretch& stretch, std::size_t count);
  /// Adjoints moved back over the stretch, and their gradients added.
  void (*backward)(const LanesStretch& stretch, std::size_t count);
  /// C (+)= A B
  void (*multiply)(const double* a, const double* b, bool add, double* c);
};

/// For this processor, within HQMM_SIMD.
[[nodiscard]] const LanesKernels& lanes_kernels();

}  // namespace hqmm::detail
