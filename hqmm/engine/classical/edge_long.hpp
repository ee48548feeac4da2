// The E step of one long sequence, shared between threads.
//
// Two walks at once, forward from the first symbol and backward from the last, leave the state
// before and the adjoint after every piece of the sequence. Between those, pieces are counted side
// by side like sequences of their own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/edge_hmm.hpp"

namespace hqmm::detail {

/// From so many symbols on the walks are worth their time.
inline constexpr std::size_t kLongForEdges = std::size_t{1} << 18;

/// Whether a sequence is for long_derivatives(): long, not all of it missing, and without sets
/// (symbol_sets.hpp).
[[nodiscard]] bool is_long_for_edges(const SequenceView& sequence, std::size_t alphabet_size);

/// Derivatives of the logarithm of the likelihood, times the weight of the sequence.
struct LongDerivatives {
  std::uint64_t scored = 0;
  double log_likelihood = 0.0;    // without the weight
  std::vector<RealMatrix> edges;  // by T_y; at last by their sum, where a symbol is missing
  RealVector posterior;           // of the initial state, given the sequence
};

/// Nothing where numbers left the range of doubles, or when stop() said so. The same bytes at any
/// thread count.
[[nodiscard]] std::optional<LongDerivatives> long_derivatives(const EdgeHmm& model,
                                                              const SequenceView& sequence,
                                                              double weight, int threads,
                                                              const std::function<bool()>& stop);

}  // namespace hqmm::detail
