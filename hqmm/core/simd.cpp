#include "hqmm/core/simd.hpp"

#include <hwy/targets.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
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

void limit_targets() {
  const char* wanted = std::getenv("HQMM_SIMD");
  if (wanted == nullptr || *wanted == '\0') return;
  std::int64_t wider = 0;
  for (const Target& target : kTargets) {
    if (target.name == wanted) {
      hwy::DisableTargets(wider);
      return;
    }
    wider |= target.bits;
  }
  throw fail(ErrorCode::kUsage, "HQMM_SIMD is '{}', expected avx512, avx2, sse4 or scalar",
             printable(wanted));
}

/// Asks the processor, once: it takes microseconds, and in Highway 1.0 every asking forgets the
/// choice, which is why the last word is Update().
const std::string& chosen_target() {
  static const std::string name = [] {
    limit_targets();
    const std::int64_t supported = hwy::SupportedTargets();
    hwy::GetChosenTarget().Update(supported);
    for (const Target& target : kTargets)
      if ((supported & target.bits) != 0) return std::string(target.name);
    return std::string(kTargets.back().name);
  }();
  return name;
}

}  // namespace

void use_simd_limit() { static_cast<void>(chosen_target()); }

std::string simd_target() { return chosen_target(); }

}  // namespace hqmm::detail
