// What the GPU engine must give: the CPU's numbers to 1e-10.
#pragma once

#include <algorithm>

#include "hqmm/engine/cuda/cuda_engine.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/stiefel/tangent.hpp"
#include "support/engine.hpp"

namespace hqmm::detail::testing {

inline constexpr double kGpuAgrees = 1e-10;

/// By the norm of the array, or by one where what is expected has mostly cancelled.
template <typename Array>
void expect_near(const Array& found, const Array& expected, const char* what) {
  ASSERT_EQ(found.rows(), expected.rows()) << what;
  ASSERT_EQ(found.cols(), expected.cols()) << what;
  const double scale = std::max(1.0, expected.norm());
  EXPECT_LE((found - expected).norm(), kGpuAgrees * scale) << what << ", norm " << expected.norm();
}

inline void expect_near(double found, double expected, const char* what) {
  EXPECT_NEAR(found, expected, kGpuAgrees * std::max(1.0, std::abs(expected))) << what;
}

/// A batch by both, on as many threads as there are.
struct BothGradients {
  BatchGradient gpu, cpu;
};
inline BothGradients both_gradients(CudaEngine& engine, const Batch& batch) {
  GradientOptions options = batch.options;
  BothGradients out;
  out.cpu = gradient(batch.model, batch.views(), options, 0);
  options.gpu = &engine;
  out.gpu = gradient(batch.model, batch.views(), options, 0);
  return out;
}

/// Only the tangent part is promised with tangent_only.
inline Stack promised(const Batch& batch, std::size_t set, const Stack& gradient) {
  if (!batch.options.tangent_only) return gradient;
  return project_tangent(batch.model.sets[set].stack(), gradient);
}
inline RealMatrix promised(const Batch& batch, std::size_t set, RealMatrix gradient) {
  if (!batch.options.tangent_only) return gradient;
  const RealMatrix& c = batch.model.sets[set].emission();
  for (Index k = 0; k < c.cols(); ++k)
    gradient.col(k) = tangent_of_sphere(c.col(k), gradient.col(k));
  return gradient;
}

inline void expect_gpu_as_cpu(CudaEngine& engine, const Batch& batch) {
  const auto [gpu, cpu] = both_gradients(engine, batch);
  EXPECT_EQ(gpu.scored, cpu.scored);
  expect_near(gpu.log_likelihood, cpu.log_likelihood, "log-likelihood");
  expect_near(gpu.raw_log_likelihood, cpu.raw_log_likelihood, "raw log-likelihood");
  ASSERT_EQ(gpu.sets.size(), cpu.sets.size());
  for (std::size_t k = 0; k < cpu.sets.size(); ++k)
    expect_near(promised(batch, k, gpu.sets[k]), promised(batch, k, cpu.sets[k]), "a set");
  ASSERT_EQ(gpu.emissions.size(), cpu.emissions.size());
  for (std::size_t k = 0; k < cpu.emissions.size(); ++k)
    expect_near(promised(batch, k, gpu.emissions[k]), promised(batch, k, cpu.emissions[k]),
                "emissions");
  ASSERT_EQ(gpu.initial_state.size(), cpu.initial_state.size());
  if (cpu.initial_state.size() > 0)
    expect_same_initial_state(batch, gpu, cpu, cpu.scored > 0 ? 1.0 : 0.0);
}

}  // namespace hqmm::detail::testing
