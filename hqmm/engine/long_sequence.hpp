// One long sequence on all cores: its likelihood without a walk from the first symbol to the last.
//
//   pieces   of the sequence, walked side by side, where the model forgets (long_pieces.hpp): for
//            operators of many rows
//   blocks   operators of stretches of the sequence, as matrices, one after another: for operators
//            of few rows, where a matrix moves as fast as a vector, and for squared models
//   pair     a walk from either end, and the two meet: ⟨e|x⟩
//
// The first of these that is possible is taken. All go by the fused operators of words
// (word_table.hpp). How a sequence is cut follows from the shapes and its length alone.
#pragma once

#include <optional>

#include "hqmm/engine/word_walk.hpp"
#include "hqmm/model/likelihood.hpp"

namespace hqmm::detail {

/// Shorter sequences are walked.
inline constexpr std::size_t kLongSequence = std::size_t{1} << 17;

enum class LongWay { kNone, kBlocks, kPair };

struct LongShape {
  Index rows = 0, block_cols = 0;
  bool squared = false;
  std::size_t symbols = 0;
  std::size_t length = 0;
};

struct LongPlan {
  LongWay way = LongWay::kNone;
  int word_length = 1;
};

/// The cheaper of blocks and a pair, kNone where tables would be too large.
[[nodiscard]] LongPlan plan_long(const LongShape& shape);
[[nodiscard]] LongShape shape_of(const LinearModel& model, std::size_t length);
/// Whether operators may be multiplied instead of moving the initial state, whose columns may be
/// few.
[[nodiscard]] bool suits_blocks(const LinearModel& model);

/// Up to rounding what log_likelihood() gives by a filter; nothing when it could be wrong: some
/// symbol is impossible, or too improbable to be told from that. Same bytes at any thread count.
[[nodiscard]] std::optional<SequenceLikelihood> long_log_likelihood(const LinearModel& model,
                                                                    const SequenceView& sequence,
                                                                    std::size_t burn_in,
                                                                    int threads);

}  // namespace hqmm::detail
