// The lanes engine: n = 2, where a state is four real coordinates and fills one vector.
//
//   x ← R x,  z ← Rᵀ z,  ∂ℓ/∂R += z xᵀ       all 4 × 4, the superoperator form
//
// At this size everything but arithmetic is overhead: no groups, no slots, tables without padding,
// and four sequences side by side so that one's additions fill another's waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/engine/chain/linear_form.hpp"

namespace hqmm::detail {

inline constexpr std::size_t kLanesRows = 4;
inline constexpr std::size_t kLanesMatrix = kLanesRows * kLanesRows;
/// Sequences beyond this are left to the superoperator form, which keeps a part of the states only.
inline constexpr std::size_t kLanesLongest = 100'000;

/// Operators without padding, words included.
struct LanesTable {
  AlignedDoubles forward, backward;  // [operator]: R and Rᵀ, 4 × 4, column-major
  double initial[kLanesRows] = {};

  /// From the base operators of the superoperator form.
  void write(const TraceForm& form, const Program& program);
};

struct LanesScratch {
  AlignedDoubles states;
  std::vector<double> powers;
};

struct LanesResult {
  std::vector<double> gradients;  // [operator]: ∂ℓ/∂R, 4 × 4
  double initial[kLanesRows] = {};

  LanesResult& operator+=(const LanesResult& other);
};

/// The sequences [first, last) of a program. False when a weight left the safe range.
[[nodiscard]] bool lanes_pass(const LanesTable& table, const Program& program, std::size_t first,
                              std::size_t last, std::size_t rescale_every, LanesScratch& scratch,
                              double* log_likelihoods, LanesResult& out);

/// ∂ℓ by words becomes ∂ℓ by what they are made of, and all base operators' go into `out`.
void chain_lanes(const LanesTable& table, const Program& program, LanesResult& result,
                 const TraceForm& form, GradientTable& out);

}  // namespace hqmm::detail
