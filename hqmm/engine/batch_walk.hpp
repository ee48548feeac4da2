// BatchWalk: many states of a LinearModel led along stretches of a sequence side by side.
//
// A matrix times a vector waits for memory, and for the vector before it. Where matrices are large,
// all states that see a word are moved by one product: then states are stored by the word they see next, so
// that those of a product lie one after another. Others are moved one by one, which at least do
// not wait for each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/word_walk.hpp"

namespace hqmm::detail {

class BatchWalk {
 public:
  /// Of so many states of one column, which are to be set. `sorted`: by the word they see. Keeps a
  /// reference to the table.
  BatchWalk(const WordTable& table, const SequenceView& sequence, std::size_t states, bool sorted);

  /// Moves state i past so many words of the table's length, from symbol from[i] on. A state that
  /// is in doubt is worthless from there on.
  void forward(std::span<const std::size_t> from, std::size_t words);

  /// As in WalkState.
  struct Standing {
    double weight = 1.0;
    std::int64_t exponent = 0;
    bool in_doubt = false;
  };

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  void set(std::size_t i, const WalkState& state);
  [[nodiscard]] const double* state(std::size_t i) const { return x_.data() + i * stride_; }
  [[nodiscard]] const Standing& standing(std::size_t i) const { return states_[i]; }

 private:
  void read(std::span<const std::size_t> from, std::size_t first_word, std::size_t words);
  /// Where every state is to be before step t of those that were read.
  void sort(std::size_t t, std::vector<std::uint32_t>& slots);
  void forward_sorted(std::size_t steps);
  void forward_alone(std::size_t steps);
  void step(std::size_t t, bool last);
  void move(std::uint32_t word, std::size_t first, std::size_t end);
  void weigh(std::uint32_t word, std::size_t i, double* x);
  void rescale(Standing& standing, double* x) const;

  const WordTable& table_;
  SequenceView sequence_;
  WordWalk reader_;
  PanelKernel kernel_;        // of states that see the same word,
  PanelKernel alone_kernel_;  // and of one
  ColumnDot dot_;
  std::uint32_t first_word_;
  std::size_t word_count_;
  std::size_t stride_;
  bool sorted_;
  std::vector<Standing> states_;
  std::vector<std::uint32_t> words_;         // of all states, one step after another of each
  std::vector<std::uint32_t> slots_, next_;  // where states are, and go
  std::vector<std::uint32_t> order_;         // the state in every slot
  std::vector<std::uint32_t> ends_;          // of the slots of every word
  std::vector<double*> scatter_;
  AlignedDoubles x_,
      y_;  // before and after a step; between calls of forward(), state i is i-th in x_
};

}  // namespace hqmm::detail
