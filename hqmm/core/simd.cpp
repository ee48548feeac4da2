#include "hqmm/core/simd.hpp"

#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hqmm/core/error.hpp"

namespace hqmm {
namespace {

struct Target {
  std::string_view name;
  std::int64_t bits;  // of Highway's targets that count as this one
};

#if HWY_ARCH_X86
constexpr std::array<Target, 4> kTargets{{{"avx512", HWY_AVX3_DL | HWY_AVX3},
                                          {"avx2", HWY_AVX2},
                                          {"sse4", HWY_SSE4 | HWY_SSSE3},
                                          {"scalar", HWY_SCALAR | HWY_EMU128}}};
#else
constexpr std::array<Target, 1> kTargets{{{"scalar", HWY_SCALAR | HWY_EMU128}}};
#endif

bool limit_targets() {
  const char* wanted = std::getenv("HQMM_SIMD");
  if (wanted == nullptr || *wanted == '\0') return true;
  std::int64_t wider = 0;
  for (const Target& target : kTargets) {
    if (target.name == wanted) {
      hwy::DisableTargets(wider);
      return true;
    }
    wider |= target.bits;
  }
  throw fail(ErrorCode::kUsage, "HQMM_SIMD is '{}', expected avx512, avx2, sse4 or scalar",
             printable(wanted));
}

}  // namespace

void use_simd_limit() {
  static const bool done = limit_targets();
  static_cast<void>(done);
}

std::string simd_target() {
  use_simd_limit();
  const std::int64_t supported = hwy::SupportedTargets();
  for (const Target& target : kTargets)
    if ((supported & target.bits) != 0) return std::string(target.name);
  return std::string(kTargets.back().name);
}

}  // namespace hqmm
