// The inner loops of two_way.hpp: one state up a sequence and one adjoint down it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// States and adjoints of this many rows at most, and at least.
inline constexpr Index kTwoWayMostRows = 36;
inline constexpr Index kTwoWayLeastRows = 4;

/// A sequence and where its states and adjoints go.
struct TwoWaySteps {
  const std::uint32_t* ops = nullptr;     // [step]
  const std::uint32_t* places = nullptr;  // the state before step t is at places[t + 1] of the
      // states, the adjoint before it at places[t] of the others
  const double* forward = nullptr;   // [operator]: R
  const double* backward = nullptr;  // and Rᵀ, as LinearForm has them
  Index rows = 0, stride = 0;
  double* states = nullptr;
  double* adjoints = nullptr;
};

struct TwoWayKernels {
  /// States after the steps [from, to).
  void (*forward)(const TwoWaySteps& steps, std::size_t from, std::size_t to) = nullptr;
  /// Adjoints before the steps [from, to), the last first.
  void (*backward)(const TwoWaySteps& steps, std::size_t from, std::size_t to) = nullptr;
  /// `count` steps up from `from` and as many down from `to`, at the same time.
  void (*both)(const TwoWaySteps& steps, std::size_t from, std::size_t to,
               std::size_t count) = nullptr;
  /// The adjoints after the steps [from, to) times a factor.
  void (*scale)(const TwoWaySteps& steps, std::size_t from, std::size_t to,
                double factor) = nullptr;
};

/// For states of so many rows on this processor, within HQMM_SIMD.
[[nodiscard]] TwoWayKernels two_way_kernels(Index rows);

}  // namespace hqmm::detail
