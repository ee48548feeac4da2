// Two classifiers on the same rows.
#pragma once

#include <cstdint>
#include <span>

#include "hqmm/evaluate/classification.hpp"

namespace hqmm::detail {

inline constexpr std::size_t kCalibrationBins = 15;

/// Two methods on the same rows.
struct PairedErrors {
  double difference = 0.0;  // mean class error of a − that of b
  double standard_error = 0.0;
  double p = 1.0;  // two-sided, normal; of the class-weighted difference
  std::uint64_t only_a_wrong = 0, only_b_wrong = 0;
  double mcnemar_p = 1.0;  // exact, every row counting the same
};
[[nodiscard]] PairedErrors compare(const Posteriors& a, const Posteriors& b,
                                   std::span<const std::uint32_t> labels);

/// P of a split of n = a + b fair coins at least as uneven as this one, two-sided.
[[nodiscard]] double mcnemar_exact(std::uint64_t a, std::uint64_t b);

}  // namespace hqmm::detail
