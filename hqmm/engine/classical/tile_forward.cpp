#include "hqmm/engine/classical/tile_forward.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"

namespace hqmm::detail {
namespace {

struct SymbolCensus {
  std::uint64_t missing = 0;
  std::uint32_t above = 0;  // the least number above all symbols
};

/// In blocks, whose counts fit a symbol: wide vectors.
template <typename Stored>
SymbolCensus census(const Stored* symbols, std::size_t size) {
  static_assert(static_cast<Stored>(static_cast<Stored>(kMissing) + 1) == 0);
  constexpr std::size_t kBlock = 128;
  SymbolCensus out;
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    const std::size_t end = std::min(size, begin + kBlock);
    Stored missing = 0;
    Stored above = 0;
    for (std::size_t t = begin; t < end; ++t) {
      const auto next = static_cast<Stored>(symbols[t] + 1);
      missing = static_cast<Stored>(missing + (next == 0 ? 1 : 0));
      above = std::max(above, next);
    }
    out.missing += missing;
    out.above = std::max<std::uint32_t>(out.above, above);
  }
  return out;
}

SymbolCensus census(const SequenceSet& set, std::size_t sequence, std::size_t begin,
                    std::size_t end) {
  const std::uint64_t at = set.offsets()[sequence] + begin;
  return set.symbols().wide() ? census(set.symbols().wide_data() + at, end - begin)
                              : census(set.symbols().bytes() + at, end - begin);
}

template <typename Stored>
void read_offsets(const Stored* symbols, std::size_t size, const HmmTables& tables,
                  std::uint32_t* to) {
  const auto stride = static_cast<std::uint32_t>(tables.stride);
  const auto none = static_cast<std::uint32_t>(tables.symbols);
  for (std::size_t k = 0; k < size; ++k) {
    const std::uint32_t symbol = symbols[k];
    to[k] = (symbol == static_cast<Stored>(kMissing) ? none : symbol) * stride;
  }
}

[[noreturn]] void refuse_symbols(const SequenceView& view, std::size_t index,
                                 std::size_t alphabet_size) {
  std::size_t t = 0;
  while (view[t] < alphabet_size || view[t] == kMissing) ++t;
  throw fail(ErrorCode::kBadData, "symbol {} of sequence {} is {}, the model has 0..{}", t, index,
             view[t], alphabet_size - 1);
}

double sum_of(const double* row, std::size_t size) {
  double sum = 0.0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i];
  return sum;
}

/// Rows that a segment must have left: a strip, or the same steps each alone.
constexpr std::size_t kReserve = 2 * kStripSteps * kTileSlots;

}  // namespace

double log_of(double sum, std::int64_t exponent) {
  int own = 0;
  double fraction = std::frexp(sum, &own);
  if (fraction < std::numbers::sqrt2 / 2) {
    fraction *= 2;
    --own;
  }
  return std::log(fraction) + static_cast<double>(own - exponent) * std::numbers::ln2;
}

TileForward::TileForward(const HmmTables& tables, std::size_t rows)
    : tables_(&tables), kernels_(tile_kernels()), most_rows_(rows) {
  current_.resize(kTileSlots * tables.stride, 0.0);
  next_.resize(kTileSlots * tables.stride, 0.0);
}

TileSlot TileForward::slot_of(std::size_t sequence, std::size_t burn_in) const {
  TileSlot slot;
  slot.sequence = sequence;
  slot.length = (*set_)[sequence].size();
  slot.exponent = kScaleExponent;
  const std::size_t head = std::min(burn_in, slot.length);
  const SymbolCensus before = census(*set_, sequence, 0, head);
  const SymbolCensus after = census(*set_, sequence, head, slot.length);
  if (std::max(before.above, after.above) > tables_->symbols)
    refuse_symbols((*set_)[sequence], sequence, tables_->symbols);
  slot.scored = slot.length - head - after.missing;
  slot.lost = before.missing + after.missing > 0 && !tables_->conserving;
  return slot;
}

void TileForward::start(const SequenceSet& set, std::span<const std::size_t> sequences,
                        std::size_t burn_in) {
  set_ = &set;
  slots_.clear();
  std::size_t rows = kReserve;
  for (const std::size_t sequence : sequences) {
    slots_.push_back(slot_of(sequence, burn_in));
    const std::size_t length = slots_.back().length;
    rows += length + length / kStripSteps + 1;
  }
  // what is there already from an earlier tile must not matter: segments follow from the data alone
  rows_ = std::clamp(rows, kReserve, std::max(kReserve, most_rows_));
  if (states_.size() < rows_ * tables_->stride) {
    states_.resize(rows_ * tables_->stride, 0.0);
    emitted_.resize(rows_);
  }
  position_ = 0;
  start_segment();
  for (std::size_t q = 0; q < slots_.size(); ++q) set_initial(current_, q);
}

void TileForward::start_segment() {
  strips_.clear();
  used_ = emitted_used_ = 0;
}

void TileForward::start_segment(std::size_t begin, const double* states) {
  start_segment();
  position_ = begin;
  std::copy_n(states, active(begin) * tables_->stride, current_.data());
}

bool TileForward::full() const noexcept {
  const std::size_t most = kStripSteps * active(position_);
  return used_ + 2 * most > rows_ || emitted_used_ + most > rows_;
}

std::size_t TileForward::active(std::size_t position) const noexcept {
  std::size_t count = slots_.size();
  while (count > 0 && slots_[count - 1].length <= position) --count;
  return count;
}

double TileForward::current_sum(std::size_t slot) const {
  return sum_of(current_.data() + slot * tables_->stride, tables_->states);
}

void TileForward::advance(std::size_t end) {
  check_interruption();
  const std::size_t steps = std::min({kStripSteps, end - position_, longest() - position_});
  std::uint32_t* emitted = emitted_.data() + emitted_used_;
  Strip strip = open_strip(steps, emitted);
  read_symbols(strip);
  if (take_steps(strip) || steps == 1) {
    close_strip(strip);
    return;
  }
  for (std::size_t k = 0; k < steps; ++k) {
    Strip alone = open_strip(1, emitted + k);
    take_steps(alone);
    close_strip(alone);
  }
}

Strip TileForward::open_strip(std::size_t steps, std::uint32_t* emitted) {
  Strip strip;
  strip.begin = position_;
  strip.steps = steps;
  strip.slots = active(position_);
  strip.states = states_.data() + used_ * tables_->stride;
  strip.emitted = emitted;
  std::copy_n(current_.data(), strip.slots * tables_->stride, strip.states);
  return strip;
}

void TileForward::read_symbols(const Strip& strip) {
  emitted_used_ += strip.slots * kStripSteps;
  const SymbolBlock& symbols = set_->symbols();
  for (std::size_t q = 0; q < strip.slots; ++q) {
    const std::uint64_t at = set_->offsets()[slots_[q].sequence] + strip.begin;
    const std::size_t size = std::min(strip.steps, slots_[q].length - strip.begin);
    std::uint32_t* to = strip.emitted + q * kStripSteps;
    if (symbols.wide()) {
      read_offsets(symbols.wide_data() + at, size, *tables_, to);
    } else {
      read_offsets(symbols.bytes() + at, size, *tables_, to);
    }
  }
}

/// Fills in states, factors and what comes next; false when a sequence is out of range.
bool TileForward::take_steps(Strip& strip) {
  const std::size_t stride = tables_->stride;
  for (std::size_t k = 0; k < strip.steps;) {
    const std::size_t running = active(strip.begin + k);
    const std::size_t to = std::min(strip.steps, slots_[running - 1].length - strip.begin);
    kernels_.forward({tables_, &strip, k, to, running, nullptr, nullptr, 0});
    k = to;
  }
  const std::size_t going_on = active(strip.begin + strip.steps);
  kernels_.rescale(*tables_, strip.states + strip.row(strip.steps, 0) * stride, going_on,
                   strip.factors.data(), next_.data());
  for (std::size_t q = going_on; q < strip.slots; ++q) {
    const std::size_t length = slots_[q].length - strip.begin;
    const double sum = sum_of(strip.states + strip.row(length, q) * stride, tables_->states);
    strip.factors[q] = sum >= kSmallestSum ? 1.0 : 0.0;
    for (std::size_t k = length + 1; k <= strip.steps; ++k)
      std::fill_n(strip.states + strip.row(k, q) * stride, stride, 0.0);
  }
  const auto end = strip.factors.begin() + static_cast<std::ptrdiff_t>(strip.slots);
  return std::find(strip.factors.begin(), end, 0.0) == end;
}

void TileForward::close_strip(Strip& strip) {
  const std::size_t stride = tables_->stride;
  const std::size_t end = strip.begin + strip.steps;
  for (std::size_t q = 0; q < strip.slots; ++q) {
    TileSlot& slot = slots_[q];
    if (strip.factors[q] == 0.0) {
      slot.lost = true;
      strip.factors[q] = 1.0;
      set_initial(next_, q);  // anything that is in range, for the sake of the others
    }
    slot.exponent += std::ilogb(strip.factors[q]);
    if (slot.length > end) continue;
    slot.sum =
        sum_of(strip.states + strip.row(slot.length - strip.begin, q) * stride, tables_->states);
  }
  position_ = end;
  used_ += (strip.steps + 1) * strip.slots;
  current_.swap(next_);
  strips_.push_back(strip);
}

void TileForward::set_initial(AlignedDoubles& rows, std::size_t slot) const {
  double* row = rows.data() + slot * tables_->stride;
  for (std::size_t i = 0; i < tables_->states; ++i) row[i] = kScale * tables_->initial[i];
}

}  // namespace hqmm::detail
