// For kernels that Highway compiles once per instruction set (core/simd.hpp).

#if defined(HQMM_CORE_REGISTERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef HQMM_CORE_REGISTERS_INL
#undef HQMM_CORE_REGISTERS_INL
#else
#define HQMM_CORE_REGISTERS_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hqmm::detail::HWY_NAMESPACE {
namespace {

constexpr int kRegisters = HWY_TARGET == HWY_AVX3 ? 32 : 16;

/// Keeps a loaded column in its register: GCC would rather load it again for every product, and
/// loads are what small products run out of.
template <class V>
HWY_INLINE void keep_in_register([[maybe_unused]] V& v) {
#if HWY_COMPILER_GCC && HWY_TARGET == HWY_AVX3
  __asm__("" : "+v"(v.raw));
#elif HWY_COMPILER_GCC && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  __asm__("" : "+x"(v.raw));
#endif
}

}  // namespace
}  // namespace hqmm::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
