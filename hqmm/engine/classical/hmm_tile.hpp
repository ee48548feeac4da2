// The inner loops of hidden Markov models: a few sequences (a tile) moved along together.
//
//   forward    α_{t+1} = C_{y_t} ∘ A α_t
//   backward   d_t = C_{y_t} ∘ β_{t+1},   β_t = Aᵀ d_t,   E[y_t] += α_{t+1} ∘ β_{t+1}
//
// States lie along the vectors and sequences side by side, so that a column of A is loaded once for
// all of them. Nothing is divided: α drifts for one strip of steps, and from one strip to the next
// it is multiplied by the power of two that brings its sum back to kScale; so is d on its way back,
// and Σ_i α_t(i) β_t(i) stays what it was. A scale far above one leaves room for α to fall by
// 2^-1020 within a strip, and keeps β ≤ 1/α inside the range of doubles wherever α is.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "hqmm/engine/classical/hmm_tables.hpp"

namespace hqmm::detail {

inline constexpr std::size_t kTileSlots = 8;    // sequences of a tile
inline constexpr std::size_t kStripSteps = 32;  // between two rescalings
inline constexpr std::int64_t kScaleExponent = 400;
inline constexpr double kScale = 0x1p400;
inline constexpr double kSmallestSum = 0x1p-620;  // of α at the end of a strip; guards the range
inline constexpr double kLargestCarried = 0x1p1022;

/// The power of two that brings a sum into [kScale, 2·kScale); 0 for one that is too small or not
/// finite.
[[nodiscard]] inline double factor_to_scale(double sum) {
  if (!(sum >= kSmallestSum) || !(sum < kLargestCarried)) return 0.0;
  const std::int64_t exponent = std::bit_cast<std::int64_t>(sum) >> 52;  // with its bias
  return std::bit_cast<double>((2 * 1023 + kScaleExponent - exponent) << 52);
}

/// A few steps of a tile. Sequences are sorted by falling length, so those still running come
/// first.
struct Strip {
  std::size_t begin = 0;  // position of the first symbol
  std::size_t steps = 0;
  std::size_t slots = 0;             // sequences longer than `begin`
  double* states = nullptr;          // α: (steps + 1) groups of `slots` rows
  std::uint32_t* emitted = nullptr;  // where a symbol's row begins: slot · kStripSteps + step
  std::array<double, kTileSlots> factors{};  // of α from here to the next strip

  [[nodiscard]] std::size_t row(std::size_t step, std::size_t slot) const {
    return step * slots + slot;
  }
};

/// Steps [from, to) of the first `active` slots of a strip.
struct StripRun {
  const HmmTables* tables = nullptr;
  const Strip* strip = nullptr;
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t active = 0;
  double* carried = nullptr;    // backward only: d, rows as those of α; group `to` is read
  double* emissions = nullptr;  // backward only: E, rows as those of C;
  std::size_t spread = 0;       // one for each slot, so far apart, or one for all: 0
};

struct TileKernels {
  void (*forward)(const StripRun&);
  void (*backward)(const StripRun&);
  /// Writes `count` rows of α multiplied such that they sum to [kScale, 2·kScale), and tells the
  /// factors: 0 for a row that sums to less than kSmallestSum.
  void (*rescale)(const HmmTables& tables, const double* rows, std::size_t count, double* factors,
                  double* to);
  /// Writes `count` rows of d multiplied by these factors. What exceeds kLargestCarried is cut:
  /// where α is zero or next to it, β can leave the range of doubles, and counts for nothing.
  void (*follow)(const HmmTables& tables, const double* rows, std::size_t count,
                 const double* factors, double* to);
};

/// For this processor, within HQMM_SIMD.
[[nodiscard]] TileKernels tile_kernels();

}  // namespace hqmm::detail
