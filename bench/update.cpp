// What an update costs beside the gradient, and Newton–Schulz against the singular value
// decomposition that it stands in for.
#include <fmt/core.h>

#include "hqmm/core/random.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "work.hpp"

namespace hqmm::bench {
namespace {

Stack gaussian_stack(const Stack& like, std::uint64_t index) {
  RandomStream random(1, Purpose::kTest, index);
  Stack out(like.rows(), like.cols());
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = {random.normal(), random.normal()};
  return out;
}

const Stack& gamma_of(Index n, Index w) { return work_of({n, w, 1}).model.sets[0].gamma(); }

/// The whole of an update: tangent projection, momentum, direction, retraction to 1e-12.
void update(benchmark::State& state, Index n, Index w) {
  Stack gamma = gamma_of(n, w);
  std::vector<Stack> gradients;
  for (std::uint64_t i = 0; i < 8; ++i) gradients.push_back(gaussian_stack(gamma, i));
  const auto rule = make_ns_ris(TrainOptions{});
  std::size_t step = 0;
  for (auto _ : state) {
    rule->update(0, gamma, gradients[step++ % gradients.size()], 0.1);
    benchmark::DoNotOptimize(gamma.data());
  }
}

void newton_schulz(benchmark::State& state, Index n, Index w) {
  const Stack z = gaussian_stack(gamma_of(n, w), 0);
  for (auto _ : state) benchmark::DoNotOptimize(newton_schulz_literal(z, 5).data());
}

template <auto polar>
void jacobi_svd(benchmark::State& state, Index n, Index w) {
  const Stack z = gaussian_stack(gamma_of(n, w), 0);
  Stack out(z.rows(), z.cols());
  for (auto _ : state) {
    polar(z.data(), z.rows(), z.cols(), out.data());
    benchmark::DoNotOptimize(out.data());
  }
}

[[maybe_unused]] const bool registered = [] {
  const std::pair<Index, Index> shapes[] = {{2, 1}, {4, 1}, {4, 2},  {4, 4},  {6, 1}, {6, 4},
                                            {8, 1}, {8, 4}, {16, 1}, {16, 4}, {32, 4}};
  const std::pair<const char*, void (*)(benchmark::State&, Index, Index)> functions[] = {
      {"update", update},
      {"newton_schulz", newton_schulz},
      {"jacobi_svd", jacobi_svd<portable::jacobi_polar>},
      {"jacobi_svd_native", jacobi_svd<native::jacobi_polar>}};
  for (const auto& [n, w] : shapes) {
    for (const auto& [name, function] : functions) {
      benchmark::RegisterBenchmark(fmt::format("{}/n={}/w={}", name, n, w).c_str(), function, n, w)
          ->MeasureProcessCPUTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
