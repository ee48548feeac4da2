// The paper's two generating processes, and the benchmark sets drawn from them.
//
// They are in model/, not data/, because sampling needs a model.
#pragma once

#include <cstdint>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

/// The 6-state, 6-symbol HMM, started uniform.
[[nodiscard]] Hmm synthetic_hmm();
/// The Stern–Gerlach HQMM (n = 2, s = 6, w = 1), started at I/2: each step measures along a random
/// one of three axes, K = |v⟩⟨v|/√3 for v the two outcomes ±z, ±x, ±y.
[[nodiscard]] Hqmm synthetic_hqmm();

struct Benchmark {
  SequenceSet train;       // 20 × 3000
  SequenceSet validation;  // 10 × 3000
  SequenceSet test;        // 10 × 3000
};

inline constexpr std::size_t kBenchmarkBurnIn = 1000;  // for scoring validation and test

namespace detail {
inline constexpr std::size_t kBenchmarkLength = 3000;
}  // namespace detail

/// The three sets, every sequence from its own stream.
[[nodiscard]] Benchmark generate_benchmark(const AnyModel& source, std::uint64_t seed,
                                           int threads = 0);

}  // namespace hqmm
