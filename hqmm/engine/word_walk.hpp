// WordWalk: states and operators of a LinearModel led along a stretch of a sequence, a word at a
// time.
//
//   forward    x ← R_y x       backward   e ← R_yᵀ e, from the last symbol to the first
//
// Nothing is divided: a state drifts and is brought back by powers of two. After every word its
// weight is compared with what it could be. Where it is too little to be told from rounding the
// walk is in doubt, and what it gives is worthless.
#pragma once

#include <span>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/word_table.hpp"

namespace hqmm::detail {

/// `x` stands for 2^exponent times as much weight. Two of them may be led along by two threads, so
/// they share no cache line, nor a pair of lines that is fetched together.
struct alignas(128) WalkState {
  AlignedDoubles x;      // columns stride apart; there may be more of them, of zeros
  AlignedDoubles spare;  // of the same size
  double weight = 1.0;
  std::int64_t exponent = 0;
  bool in_doubt = false;
};

/// Symbols [from, to) of a sequence.
struct Stretch {
  std::size_t from = 0, to = 0;
};

class WordWalk {
 public:
  /// Of states of so many columns. Keeps a reference to the table.
  WordWalk(const WordTable& table, const SequenceView& sequence, Index cols);

  [[nodiscard]] WalkState initial() const;
  /// A state in which all symbols weigh most: where walks from the end begin.
  [[nodiscard]] WalkState certain() const;
  /// As many columns of the identity as an operator has of its own.
  [[nodiscard]] WalkState identity() const;

  void forward(WalkState& state, Stretch stretch) const;
  void backward(WalkState& state, Stretch stretch) const;
  /// Operators, from identity(), each along its own stretch.
  void forward_blocks(std::span<WalkState> blocks, std::span<const Stretch> stretches) const;

  /// The operator of a block of symbols, from identity(), after the state before it.
  void apply(const WalkState& block, WalkState& state) const;
  /// The weight of a sequence of which a walk from either end has come to the same place; in doubt
  /// if it is next to nothing. For states of one column.
  [[nodiscard]] double meet(WalkState& state, const WalkState& from_end) const;

  /// A state of zeros.
  [[nodiscard]] WalkState blank() const;
  /// Brings a state back to a weight near one.
  void rescale(WalkState& state) const;
  /// The words of a stretch, at most words.size() of them: returns their number, or 0 when there is
  /// a symbol that the model does not have.
  [[nodiscard]] std::size_t read(Stretch stretch, std::span<std::uint32_t> words) const;

 private:
  void step(WalkState& state, std::uint32_t word, bool back) const;
  void move(WalkState& state, const double* matrix, double least, std::int64_t exponent) const;
  void forward_few(std::span<WalkState> blocks, std::span<const Stretch> stretches) const;
  void lead(BlockRun& run, std::span<WalkState> blocks) const;

  const WordTable* table_;
  SequenceView sequence_;
  Index cols_;
  PanelKernel kernel_;
};

}  // namespace hqmm::detail
