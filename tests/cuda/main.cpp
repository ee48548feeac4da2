// The suite `cuda`: a program of its own, which says so where there is no GPU.
#include <gtest/gtest.h>

#include <cstdio>

#include "hqmm/core/error.hpp"
#include "hqmm/engine/cuda/cuda_engine.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  try {
    std::printf("%s\n", hqmm::detail::cuda_device_name().c_str());
  } catch (const hqmm::Error& error) {
    std::printf("skipped: no GPU (%s)\n", error.what());
    return 77;
  }
  return RUN_ALL_TESTS();
}
