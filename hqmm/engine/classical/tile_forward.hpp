// TileForward: the forward pass of a few sequences, strip by strip.
//
// A strip whose states fall out of range is run again one step at a time; a sequence that is out of
// range even then is given up (`lost`) and left to code that needs no range.
#pragma once

#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/classical/hmm_tile.hpp"

namespace hqmm::detail {

/// One sequence of a tile. After its last symbol α sums to `sum`, and is 2^exponent times what it
/// stands for.
struct TileSlot {
  std::size_t sequence = 0;
  std::size_t length = 0;
  std::uint64_t scored = 0;  // symbols after the burn-in that are not missing
  double sum = 0.0;
  std::int64_t exponent = 0;
  bool lost = false;  // a weight of zero or below about 1e-307, or one that cannot be told
};

/// log(sum · 2^−exponent); exactly 0 for 1.
[[nodiscard]] double log_of(double sum, std::int64_t exponent);

class TileForward {
 public:
  /// Keeps a reference to the tables. Room for segments of about `rows` states, or of one strip.
  TileForward(const HmmTables& tables, std::size_t rows);

  /// Before the first symbol of these sequences, at most kTileSlots, by falling length, none empty.
  /// Throws kBadData for a symbol that the model does not have.
  void start(const SequenceSet& set, std::span<const std::size_t> sequences,
             std::size_t burn_in = 0);
  /// Forgets the strips kept so far. The states go on from `states` (rows as in `current`), which
  /// are those before position `begin`, or from where they are. Exponents count a segment as often
  /// as it is run.
  void start_segment();
  void start_segment(std::size_t begin, const double* states);
  /// One strip more, or several where steps must be taken alone; none reaches beyond `end`.
  void advance(std::size_t end);

  [[nodiscard]] bool full() const noexcept;
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  [[nodiscard]] std::size_t longest() const noexcept { return slots_.front().length; }
  [[nodiscard]] std::span<const TileSlot> slots() const noexcept { return slots_; }
  [[nodiscard]] std::span<const Strip> strips() const noexcept { return strips_; }
  /// Sequences longer than `position`: the first ones.
  [[nodiscard]] std::size_t active(std::size_t position) const noexcept;
  /// α now, a row for every active slot.
  [[nodiscard]] const double* current() const noexcept { return current_.data(); }
  [[nodiscard]] double current_sum(std::size_t slot) const;

  [[nodiscard]] const HmmTables& tables() const noexcept { return *tables_; }
  [[nodiscard]] const TileKernels& kernels() const noexcept { return kernels_; }

 private:
  [[nodiscard]] TileSlot slot_of(std::size_t sequence, std::size_t burn_in) const;
  [[nodiscard]] Strip open_strip(std::size_t steps, std::uint32_t* emitted);
  void read_symbols(const Strip& strip);
  bool take_steps(Strip& strip);
  void close_strip(Strip& strip);
  void set_initial(AlignedDoubles& rows, std::size_t slot) const;

  const HmmTables* tables_;
  TileKernels kernels_;
  const SequenceSet* set_ = nullptr;
  std::vector<TileSlot> slots_;
  std::vector<Strip> strips_;
  AlignedDoubles states_;
  std::vector<std::uint32_t> emitted_;
  AlignedDoubles current_, next_;
  std::size_t most_rows_;
  std::size_t rows_ = 0;  // that a segment of this tile may take
  std::size_t used_ = 0;  // of them
  std::size_t emitted_used_ = 0;
  std::size_t position_ = 0;  // of the next symbol
};

}  // namespace hqmm::detail
