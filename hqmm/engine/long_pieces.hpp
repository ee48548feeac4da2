// One long sequence in pieces that are walked side by side, each from a state that was not reached
// from the first symbol.
//
// Most models forget: after enough symbols their state is the same, up to rounding and its weight,
// whatever it was before. A piece starts from some state a few symbols earlier, its warm-up. When
// the piece before it has come to its end, the two states at that place are compared. They must
// agree in every coordinate, small ones included, because parts of a state that never meet may be
// of any size: then one for the other is a change like that of rounding. Where they do not agree
// the piece is walked again, from where the one before ended. A model that never forgets is left
// to others as soon as that shows.
#pragma once

#include <optional>

#include "hqmm/engine/word_walk.hpp"

namespace hqmm::detail {

/// How a sequence is cut; follows from shapes and its length alone.
struct PiecePlan {
  std::size_t pieces = 0;    // of the same length; none: too short a sequence
  std::size_t together = 0;  // of them, on one thread
  int word_length = 1;
  bool sorted = false;  // BatchWalk
  double cost = 0.0;    // processor cycles, as measured
};

[[nodiscard]] PiecePlan plan_pieces(Index rows, std::size_t symbols, std::size_t length);

/// The logarithm of the weight from burn_in on. Nothing when the model remembers too long, or when
/// a weight is in doubt. Same bytes at any thread count.
[[nodiscard]] std::optional<double> score_by_pieces(const WordTable& table,
                                                    const SequenceView& sequence,
                                                    std::size_t burn_in, const PiecePlan& plan,
                                                    int threads);

}  // namespace hqmm::detail
