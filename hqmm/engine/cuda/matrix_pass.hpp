// Passes over states that stay matrices: what goes in and what comes out, for tile_pass and
// large_pass.
//
//   forward    ρ ← D (Σ_q K_q ρ K_q†) D            backward   R = D S D;  S ← Σ_q K_q† (R K_q)
//   gradient   ∂ℓ/∂K_q = 2 Σ (R K_q) ρ,  ∂ℓ/∂c_i = (2 / c_i) Σ_l Re S_il* ρ'_il, ρ' the next state
//
// with D = I for emission on edges; on states the K_q are the V_q of all symbols and D = diag(c).
// States are brought back by powers of two as in engine/chain/chain.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hqmm::detail {

/// Matrices are n × n, row by row: real parts, then, of a complex model, imaginary parts.
struct MatrixModel {
  bool real = false;
  int n = 0;
  std::vector<double> matrices;
  /// [operator]: the first of its matrices, and how many they are.
  std::vector<std::uint32_t> first, count;
  std::vector<double> emission;  // [operator][n]: c; empty for emission on edges
  std::vector<double> initial;   // one matrix

  [[nodiscard]] std::size_t matrix_size() const {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * (real ? 1 : 2);
  }
  [[nodiscard]] std::size_t matrix_count() const { return matrices.size() / matrix_size(); }
};

struct MatrixOptions {
  bool backward = true;
  std::size_t pace = 16;       // steps from one rescaling to the next; 1 is the careful way
  std::size_t memory = 0;      // bytes for states
  double suspect_below = 0.0;  // forward only: as in ChainOptions
};

struct MatrixResult {
  std::vector<double> log_likelihoods;  // [sequence]
  std::vector<double> gradients;        // [matrix]: Σ (R K) ρ
  std::vector<double> by_emission;      // [operator][n]: Σ Re S_il* ρ'_il
  std::vector<double> initial;          // Σ of the adjoints at the initial state
  std::vector<char> suspects;           // [sequence], of suspect_below
  /// The first sequence whose weight left the range, and the step that took it there.
  bool failed = false;
  std::size_t failed_sequence = 0, failed_step = 0;
};

/// A batch as the GPU walks it: longest sequences first.
struct DeviceSequence {
  std::uint64_t first_step = 0;
  std::uint64_t first_mark = 0;
  double weight = 1.0;
  std::uint32_t length = 0;
  std::uint32_t marks = 0;
  std::uint32_t index = 0;  // in the batch
  std::uint32_t unused = 0;
};
struct DeviceMark {
  double coefficient = 0.0;
  std::uint32_t step = 0;
  std::uint32_t stops_gradient = 0;
};
struct DeviceBatch {
  std::vector<DeviceSequence> sequences;
  std::vector<DeviceMark> marks;
  std::span<const std::uint32_t> steps;  // operators
};

}  // namespace hqmm::detail
