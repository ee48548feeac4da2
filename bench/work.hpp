// The models and data the cases share. Made once per shape: Google Benchmark enters a case several
// times.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/hqmm.hpp"
#include "naive_eigen.hpp"

namespace hqmm::bench {
using namespace detail;

struct Shape {
  Index n = 0;  // latent dimension
  Index w = 1;  // Kraus operators per symbol
  std::size_t batch = 20;
  Index s = 6;  // symbols of the alphabet
  std::size_t length = 300;
  bool pure = false;  // the initial state has rank one; otherwise it is I/n
  Field field = Field::kComplex;
  EmissionKind emission = EmissionKind::kEdge;
  bool feasible = true;  // or not trace preserving

  friend auto operator<=>(const Shape&, const Shape&) = default;
};

/// "n=6/w=4/B=20", "/s=27" where the alphabet is not the usual one, "/real" and "/state" of
/// structured models, "/infeasible"
[[nodiscard]] std::string name_of(const Shape& shape);

/// A Haar-random model and uniformly random sequences, so that no engine profits from repeats.
struct Work {
  Hqmm model;
  SequenceSet data;
  std::vector<SequenceView> batch;
  std::vector<std::vector<std::uint16_t>> plain;  // the same sequences for the naive yardstick

  [[nodiscard]] double symbols() const { return static_cast<double>(data.symbol_count()); }
  [[nodiscard]] NaiveWork naive() const;
};
[[nodiscard]] const Work& work_of(const Shape& shape);

[[nodiscard]] BatchGradient gradient_of(const Work& work, EngineKind engine, int threads = 1);

/// Empty when the engine's loss and gradient are the naive engine's to 1e-9, else what is wrong.
/// Long work is cut short for this; HQMM_BENCH_UNCHECKED leaves it out, for profiles.
[[nodiscard]] std::string disagreement(const Shape& shape, EngineKind engine);

/// Where Baum–Welch starts, and 200 sequences of 300 symbols drawn from another model.
struct EmWork {
  Hmm start;
  SequenceSet data;
};
[[nodiscard]] const EmWork& em_work(Index n, std::size_t s);

/// "superoperator", "factor, 2-grams": what kAuto becomes for this work.
[[nodiscard]] std::string chosen_form(const Work& work);

/// Symbols, and symbols per second.
void count(benchmark::State& state, const Shape& shape);

}  // namespace hqmm::bench
