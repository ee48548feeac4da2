// Which vector instructions the kernels use, picked once at run time.
//
// Kernels are compiled for several instruction sets into the same library (Highway's
// foreach_target) and the widest one this processor has is taken. The environment variable
// HQMM_SIMD=avx512|avx2|sse4|scalar limits the choice: for tests, and because results differ in the
// last digits between targets. The same seed and the same target give the same bytes.
//
// A kernel file is written like this (see core/panels.cpp), and its public wrapper dispatches
// after use_simd_limit():
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "hqmm/core/panels.cpp"
//   #include <hwy/foreach_target.h>
//   #include <hwy/highway.h>
//   HWY_BEFORE_NAMESPACE(); namespace hqmm::HWY_NAMESPACE { … } HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   HWY_EXPORT(kernel);  …  use_simd_limit(); HWY_DYNAMIC_DISPATCH(kernel)(…)
//   #endif
#pragma once

#include <string>

namespace hqmm::detail {

/// Reads HQMM_SIMD on its first call; later calls cost a load. A name that is not one of the above
/// throws kUsage.
void use_simd_limit();

/// The target the kernels run on: "avx512", "avx2", "sse4" or "scalar". Throws like
/// use_simd_limit().
[[nodiscard]] std::string simd_target();

}  // namespace hqmm::detail
