// WindowPass: the windows of a tile through the word tables of one model.
//
// All windows move along together, a body at a time. Those with the same word there share one
// matrix, so a body is a product per word: matrix times the states of its windows, which lie side
// by side because the body before has put them so.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/engine/windows/window_tile.hpp"
#include "hqmm/engine/windows/word_tables.hpp"

namespace hqmm::detail {

/// Of the windows by slot: where their states are in the order of their words.
struct WindowScratch {
  AlignedDoubles states, next;
  std::vector<double> weights, next_weights;
  std::vector<std::uint32_t> order, next_order;  // the window of a slot
  std::vector<std::uint32_t> slots;              // the slot of a window in `next`
  std::vector<std::uint32_t> starts,
      next_starts;                      // first slot of a word; the last group has no code
  std::vector<std::int64_t> exponents;  // by window: weights are times 2^exponent
  std::vector<double*> columns;
  AlignedDoubles one, other;  // a state that goes symbol by symbol
};

class WindowPass {
 public:
  /// References are kept.
  WindowPass(const WindowModel& model, const WordTables& tables);

  /// log P of every window of the tile; not a number where only the filter knows.
  void run(WindowTile& tile, std::span<double> log_likelihoods, WindowScratch& scratch) const;

 private:
  class Run;

  const WindowModel& model_;
  const WordTables& tables_;
  std::vector<PanelKernel> kernels_;  // by the number of columns; the first for many
  std::size_t rescale_every_;         // symbols
};

}  // namespace hqmm::detail
