// Loss and gradient of a batch: the chosen engine, every engine by itself, the naive one and the
// yardstick in plain Eigen. What does not agree with the naive engine is not timed.
//
// Names: gradient/ENGINE/n=6/w=4/B=20, with `eigen` and `eigen_native` for the yardstick.
#include <fmt/core.h>

#include <cmath>

#include "work.hpp"

namespace hqmm::bench {
namespace {

using Names = std::vector<std::pair<EngineKind, const char*>>;
using NaiveFunction = NaiveResult (*)(const NaiveWork&);

void engine_case(benchmark::State& state, EngineKind engine, const Shape& shape) {
  if (const std::string wrong = disagreement(shape, engine); !wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  const Work& work = work_of(shape);
  for (auto _ : state) benchmark::DoNotOptimize(gradient_of(work, engine).raw_log_likelihood);
  count(state, shape);
  if (engine == EngineKind::kAuto) state.SetLabel(chosen_form(work));
}

bool agrees(const NaiveResult& result, const BatchGradient& naive) {
  const Stack& expected = naive.sets[0];
  const Eigen::Map<const Stack> found(result.gradient.data(), expected.rows(), expected.cols());
  return std::abs(result.log_likelihood / naive.raw_log_likelihood - 1.0) < 1e-9 &&
         (found - expected).norm() < 1e-9 * expected.norm();
}

void eigen_case(benchmark::State& state, NaiveFunction function, const Shape& shape) {
  const Work& one = work_of({.n = shape.n, .w = shape.w, .batch = 1});
  if (!agrees(function(one.naive()), gradient_of(one, EngineKind::kNaive))) {
    state.SkipWithError("differs from the naive engine");
    return;
  }
  const Work& work = work_of(shape);
  for (auto _ : state) benchmark::DoNotOptimize(function(work.naive()).log_likelihood);
  count(state, shape);
}

void add(const char* name, EngineKind engine, const Shape& shape) {
  const std::string title = fmt::format("gradient/{}/{}", name, name_of(shape));
  benchmark::RegisterBenchmark(title.c_str(), engine_case, engine, shape)
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_eigen(const char* name, NaiveFunction function, const Shape& shape) {
  const std::string title = fmt::format("gradient/{}/{}", name, name_of(shape));
  benchmark::RegisterBenchmark(title.c_str(), eigen_case, function, shape)
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMicrosecond);
}

/// The forms worth trying at a shape, whether or not they are chosen there.
Names forms_of(Index n, Index w) {
  Names out{{EngineKind::kKraus, "kraus"}, {EngineKind::kSuperoperator, "superoperator"}};
  if (w == 1) out.emplace_back(EngineKind::kFactor, "factor");
  if (n == 2 && w == 1) out.emplace_back(EngineKind::kLanes, "lanes");
  return out;
}

void add_shape(Index n, Index w) {
  for (const std::size_t batch : {1, 20, 200}) {
    const Shape shape{.n = n, .w = w, .batch = batch};
    add("auto", EngineKind::kAuto, shape);
    if (batch == 200) continue;
    add("naive", EngineKind::kNaive, shape);
    add_eigen("eigen", portable::naive_gradient, shape);
    add_eigen("eigen_native", native::naive_gradient, shape);
    if (batch == 1) continue;
    for (const auto& [engine, name] : forms_of(n, w)) add(name, engine, shape);
  }
}

[[maybe_unused]] const bool registered = [] {
  const std::pair<Index, Index> shapes[] = {{2, 1}, {4, 1}, {4, 2}, {4, 4},  {6, 1},
                                            {6, 4}, {8, 1}, {8, 4}, {16, 1}, {16, 4}};
  for (const auto& [n, w] : shapes) add_shape(n, w);
  // Large states, shorter sequences: a whole pass would take seconds.
  for (const Index w : {1, 2}) {
    add("kraus", EngineKind::kKraus, {.n = 32, .w = w});
    add("kraus", EngineKind::kKraus, {.n = 64, .w = w, .length = 60});
  }
  for (const Index n : {8, 16}) add("kraus", EngineKind::kKraus, {.n = n, .w = 2});
  // Text-like: 27 symbols, one operator each; the pure state against the factor of a mixed one.
  for (const Index n : {32, 64}) {
    Shape shape{.n = n, .w = 1, .s = 27, .length = n == 32 ? 300U : 60U};
    add("factor", EngineKind::kFactor, shape);
    shape.pure = true;
    add("pure", EngineKind::kPure, shape);
  }
  // Structured models. On states the Kraus form is two plain products per operator each way; on
  // edges a real n = 11 has about as many coordinates, and parameters, as a complex n = 8.
  for (const Index n : {39, 64}) {
    Shape shape{.n = n, .w = 2, .batch = 32, .s = 27, .length = 60};
    shape.field = Field::kReal;
    shape.emission = EmissionKind::kState;
    add("kraus", EngineKind::kKraus, shape);
  }
  for (const Field field : {Field::kReal, Field::kComplex}) {
    Shape shape{.n = field == Field::kReal ? 11 : 8, .w = 2, .batch = 32, .s = 4};
    shape.field = field;
    add("auto", EngineKind::kAuto, shape);
  }
  for (const Index n : {4, 6}) {
    Shape shape{.n = n};
    shape.feasible = false;
    add("auto", EngineKind::kAuto, shape);
  }
  for (const Index n : {4, 8, 12}) {
    Shape shape{.n = n, .w = 2, .batch = 32, .s = 27};
    shape.field = Field::kReal;
    shape.emission = EmissionKind::kState;
    add("auto", EngineKind::kAuto, shape);
  }
  return true;
}();

}  // namespace
}  // namespace hqmm::bench
