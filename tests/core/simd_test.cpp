// The kernels run on the target that simd_target() names, whichever is asked first.
#include "hqmm/core/simd.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "hqmm/core/panels.hpp"

namespace hqmm::detail {
namespace {

TEST(Simd, KernelsRunOnTheTargetThatIsNamed) {
  const std::map<std::string, std::string> names{
      {"AVX3", "avx512"}, {"AVX2", "avx2"}, {"SSE4", "sse4"}, {"SCALAR", "scalar"}};
  const std::string name = simd_target();
  EXPECT_EQ(names.at(panel_target()), name);
  EXPECT_EQ(simd_target(), name);
  EXPECT_EQ(names.at(panel_target()), name);
  // On a processor that has it, a limit is also the choice. Narrower ones every processor has.
  const char* limit = std::getenv("HQMM_SIMD");
  if (limit != nullptr && (std::string(limit) == "sse4" || std::string(limit) == "scalar")) {
    EXPECT_EQ(name, limit);
  }
}

}  // namespace
}  // namespace hqmm::detail
