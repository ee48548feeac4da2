// The E step of Baum–Welch: what a hidden Markov model expects to have happened in a set of
// sequences.
//
//   transitions(i, j) = Σ P(state j, then i | sequence)
//   emissions(y, i) = Σ P(state i at y | sequence)
//
// Sequences go through the kernels of hmm_tile.hpp a few at a time; the odd one whose probabilities
// leave the range of doubles goes through careful_counts(). A missing symbol emits nothing and
// scores nothing.
#pragma once

#include <functional>
#include <optional>

#include "hqmm/core/ranks.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/hmm.hpp"

namespace hqmm::detail {

/// A symbol of probability zero.
struct ImpossibleSymbol {
  std::size_t sequence = 0;
  std::size_t position = 0;
};

struct ExpectedCounts {
  explicit ExpectedCounts(const Hmm& model);

  std::uint64_t scored = 0;
  double log_likelihood = 0.0;  // natural, of all sequences
  RealMatrix transitions;       // n × n, [to, from]
  RealMatrix emissions;         // s × n
  RealVector initial;           // n
  /// Of the first sequence that has one. The counts are then without such sequences.
  std::optional<ImpossibleSymbol> impossible;
};

/// The same bytes at any thread count and of any number of ranks, which help with counts_task() of
/// the same set under the name kCountsTask. Asks `stop` now and then, on the calling thread, and returns
/// nothing once it says yes. Throws kBadData for a symbol that the model does not have.
[[nodiscard]] std::optional<ExpectedCounts> expected_counts(const Hmm& model,
                                                            const SequenceSet& set, int threads,
                                                            const std::function<bool()>& stop,
                                                            Ranks* ranks = nullptr);

inline constexpr const char* kCountsTask = "counts";
[[nodiscard]] RankTask counts_task(const SequenceSet& set, Share share, int threads);

/// Adds one sequence as often as `weight` says, scaled at every step and without any β, so that
/// whatever a forward pass can tell apart from zero is counted; slowly. Returns the position of a
/// symbol of probability zero, having added nothing, or nothing.
[[nodiscard]] std::optional<std::size_t> careful_counts(const Hmm& model,
                                                        const SequenceView& sequence,
                                                        ExpectedCounts& counts,
                                                        double weight = 1.0);

}  // namespace hqmm::detail
