// The E step of EM for hidden Markov models that emit on their edges.
//
//   edges[y](i, j) = Σ_t P(state j, then symbol y and state i | sequence)
//
// In terms of probabilities alone, so that nothing overflows however small they are. With the
// filtered state x_t, p = T_y x_t and the posterior γ_{t+1} of the state after the symbol:
//
//   ξ_t(i, j) = r(i) (T_y)_ij x_t(j),   r = γ_{t+1} / p;      γ_t = x_t ∘ T_yᵀ r
//
// A missing symbol may have been any: its edges count for every symbol by their shares.
#pragma once

#include "hqmm/engine/classical/forward_backward.hpp"
#include "hqmm/model/edge_hmm.hpp"

namespace hqmm::detail {

struct EdgeCounts {
  explicit EdgeCounts(const EdgeHmm& model);

  std::uint64_t scored = 0;
  double log_likelihood = 0.0;  // natural, of all sequences
  std::vector<RealMatrix> edges;
  RealVector initial;
  /// Of the first sequence that has one. The counts are then without such sequences.
  std::optional<ImpossibleSymbol> impossible;
};

/// The same bytes at any thread count and of any number of ranks; threads share out sequences, so one long sequence keeps one
/// busy. Asks `stop` now and then, on the calling thread, and returns nothing once it says yes.
[[nodiscard]] std::optional<EdgeCounts> expected_edges(const EdgeHmm& model, const SequenceSet& set,
                                                       int threads,
                                                       const std::function<bool()>& stop,
                                                       Ranks* ranks = nullptr);

/// With which other ranks help, by this name.
inline constexpr const char* kEdgesTask = "edges";
[[nodiscard]] RankTask edges_task(const SequenceSet& set, Share share, int threads);

}  // namespace hqmm::detail
