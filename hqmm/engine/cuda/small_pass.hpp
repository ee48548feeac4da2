// SmallPass: what ChainPass (engine/chain/chain.hpp) does for models whose states are at most 64
// real coordinates, on the GPU and for a whole batch.
//
//   steps      operators of the batch, from symbols that stay on the GPU        small_steps.cu
//   forward    a few lanes per sequence, all states kept                         small_walk.cuh
//   backward   the same, all adjoints kept
//   gradient   steps sorted by operator, products of adjoints and states of      small_gradient.cu
//              an operator on tensor cores, sums in a fixed order;
//              states of four numbers are multiplied on the way back        small_sums.cuh
//
// Where states do not fit, sequences go in parts, and long ones in segments of steps, which are
// walked anew from one state each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/chain/chain_result.hpp"
#include "hqmm/engine/chain/not_finite.hpp"
#include "hqmm/model/position_map.hpp"

namespace hqmm::detail {

/// The most coordinates of a state.
inline constexpr int kMostSmallRows = 64;

struct SmallModel {
  int rows = 0;    // coordinates of a state,
  int traced = 0;  // the first of which add up to the weight
  int stride = 0;  // between columns of a matrix
  std::size_t symbols = 0;
  std::size_t sets = 1;
  const PositionMap* positions = nullptr;  // none: one set for all positions
  /// rows columns for each operator: set · symbols + symbol, then one per set for a missing symbol.
  const double* matrices = nullptr;
  const double* initial = nullptr;

  [[nodiscard]] std::size_t operators() const { return sets * (symbols + 1); }
  [[nodiscard]] std::size_t operator_size() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride);
  }
};

/// As in ProgramOptions and ChainOptions.
struct SmallOptions {
  std::size_t burn_in = 0;
  bool through_burn_in = true;
  bool tangent_only = false;
  bool want_initial = false;
  bool backward = true;
  std::size_t pace = 16;       // 16, or 1: the careful mode, which names the step that fails
  double suspect_below = 0.0;  // forward only
  std::size_t memory = 0;      // bytes for states; 0: a gibibyte
};

/// Kept from call to call, so that its memory is.
struct SmallResult {
  std::vector<double> log_likelihoods;  // raw, of each sequence
  std::vector<std::uint64_t> scored;
  std::vector<double> gradients;  // by each operator, as its matrix lies; zero where it is not used
  std::vector<char> used;
  std::vector<double> initial;  // Σ of the adjoints at the initial state, if wanted
  std::vector<char> suspects;   // ChainOptions::suspect_below, and sequences that failed
  /// Of the careful mode: the first sequence with a weight that cannot be divided by.
  std::optional<NotFinite> failure;
  LeastWeight least;
  /// A symbol was neither in the alphabet nor missing: the result is worthless.
  bool strange_symbols = false;
};

class SmallPass {
 public:
  SmallPass();
  SmallPass(const SmallPass&) = delete;
  SmallPass& operator=(const SmallPass&) = delete;
  ~SmallPass();

  /// False when a weight left the safe range: then the likelihoods and counts of the other
  /// sequences are right, and nothing else. `weights`: one per sequence, or none, all are 1.
  /// Throws an Error when the GPU fails or its memory does not do.
  [[nodiscard]] bool run(const SmallModel& model, std::span<const SequenceView> batch,
                         std::span<const double> weights, const SmallOptions& options,
                         SmallResult& out);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace hqmm::detail
