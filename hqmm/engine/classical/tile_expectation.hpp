// TileExpectation: expected counts of a few sequences by forward–backward.
//
//   Σ_t ξ_t(i, j) = A_ij Σ_t d_t(i) α_t(j):  a product of two long matrices for every strip
//
// α is kept for one segment at a time and computed again from its first state where a sequence is
// longer, so the memory does not grow with the length.
#pragma once

#include "hqmm/core/panels.hpp"
#include "hqmm/engine/classical/tile_forward.hpp"

namespace hqmm::detail {

/// Sums over sequences, each as often as its weight says, in the layout of the tables.
struct TileCounts {
  TileCounts() = default;
  explicit TileCounts(const HmmTables& tables) { reset(tables); }
  /// All zero.
  void reset(const HmmTables& tables);
  TileCounts& operator+=(const TileCounts& other);

  std::uint64_t scored = 0;
  double log_likelihood = 0.0;
  AlignedDoubles transitions;  // from j to i at j · stride + i; without the factor A_ij
  AlignedDoubles emissions;    // rows as those of the emission table; a table for every slot,
  std::size_t spread = 0;      // so far apart, or one for all: 0
  AlignedDoubles initial;
};

class TileExpectation {
 public:
  /// Keeps a reference to the tables.
  explicit TileExpectation(const HmmTables& tables);

  /// Adds the counts of a tile's sequences, unless some are out of the range of the kernels: these
  /// are then added to `lost`, and the counts mean nothing.
  void add(const SequenceSet& set, std::span<const std::size_t> sequences, TileCounts& counts,
           std::vector<std::size_t>& lost);

 private:
  struct Segment {
    std::size_t begin = 0;
    std::vector<double> states;
  };

  bool run_forward(std::vector<std::size_t>& lost);
  void run_segment(std::size_t end);
  void run_backward(const Strip& strip, TileCounts& counts);
  void enter(const Strip& strip, std::size_t slot, std::size_t step, TileCounts& counts);
  void add_transitions(const Strip& strip, TileCounts& counts) const;
  void close_segment(const Strip& first, TileCounts& counts, std::vector<std::size_t>& lost);

  const HmmTables* tables_;
  PanelKernel multiply_;
  TileForward forward_;
  std::vector<Segment> segments_;
  std::vector<double> weights_;  // of the tile's sequences, by slot
  AlignedDoubles carried_;       // d of a strip, and after it that of the next step
  AlignedDoubles beta_;
};

}  // namespace hqmm::detail
