#include "hqmm/engine/classical/tile_expectation.hpp"

#include <algorithm>
#include <cmath>

namespace hqmm::detail {
namespace {

/// States kept: a few megabytes, and enough steps that segments are long against strips.
std::size_t rows_kept(std::size_t stride) {
  constexpr std::size_t kDoubles = std::size_t{1} << 19;
  return std::clamp<std::size_t>(kDoubles / stride, 4096, 16384);
}

/// Of a few symbols one is often met again at once, and would wait until the count before is
/// written: then every slot counts for itself.
std::size_t emission_tables(const HmmTables& tables) {
  constexpr std::size_t kDoubles = 2048;
  return tables.emission_size() * kTileSlots <= kDoubles ? kTileSlots : 1;
}

void add_to(AlignedDoubles& to, const AlignedDoubles& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

void TileCounts::reset(const HmmTables& tables) {
  scored = 0;
  log_likelihood = 0.0;
  transitions.assign(tables.states * tables.stride, 0.0);
  emissions.assign(emission_tables(tables) * tables.emission_size(), 0.0);
  spread = emission_tables(tables) > 1 ? tables.emission_size() : 0;
  initial.assign(tables.stride, 0.0);
}

TileCounts& TileCounts::operator+=(const TileCounts& other) {
  scored += other.scored;
  log_likelihood += other.log_likelihood;
  add_to(transitions, other.transitions);
  add_to(emissions, other.emissions);
  add_to(initial, other.initial);
  return *this;
}

TileExpectation::TileExpectation(const HmmTables& tables)
    : tables_(&tables),
      multiply_(panel_kernel()),
      forward_(tables, rows_kept(tables.stride)),
      carried_((kStripSteps + 1) * kTileSlots * tables.stride, 0.0),
      beta_(kTileSlots * tables.stride, 0.0) {}

void TileExpectation::add(const SequenceSet& set, std::span<const std::size_t> sequences,
                          TileCounts& counts, std::vector<std::size_t>& lost) {
  forward_.start(set, sequences);
  weights_.clear();
  for (const TileSlot& slot : forward_.slots()) weights_.push_back(set.weight(slot.sequence));
  if (!run_forward(lost)) return;
  for (const TileSlot& slot : forward_.slots()) {
    counts.scored += slot.scored;
    if (slot.scored > 0)
      counts.log_likelihood += set.weight(slot.sequence) * log_of(slot.sum, slot.exponent);
  }
  for (std::size_t k = segments_.size(); k-- > 0;) {
    if (k + 1 < segments_.size()) {
      forward_.start_segment(segments_[k].begin, segments_[k].states.data());
      run_segment(segments_[k + 1].begin);
    }
    const std::span<const Strip> strips = forward_.strips();
    for (std::size_t i = strips.size(); i-- > 0;) run_backward(strips[i], counts);
    close_segment(strips.front(), counts, lost);
  }
}

bool TileExpectation::run_forward(std::vector<std::size_t>& lost) {
  segments_.clear();
  while (forward_.position() < forward_.longest()) {
    const std::size_t begin = forward_.position();
    const double* states = forward_.current();
    segments_.push_back({begin, {states, states + forward_.active(begin) * tables_->stride}});
    forward_.start_segment();
    run_segment(forward_.longest());
  }
  bool fine = true;
  for (const TileSlot& slot : forward_.slots()) {
    if (slot.lost) lost.push_back(slot.sequence);
    fine = fine && !slot.lost;
  }
  return fine;
}

/// To `end` or until the room for states is used up.
void TileExpectation::run_segment(std::size_t end) {
  while (forward_.position() < end && !forward_.full()) forward_.advance(end);
}

void TileExpectation::run_backward(const Strip& strip, TileCounts& counts) {
  const std::size_t stride = tables_->stride;
  const TileKernels& kernels = forward_.kernels();
  // d after this strip is that of the first step of the strip treated before.
  kernels.follow(*tables_, carried_.data(), forward_.active(strip.begin + strip.steps),
                 strip.factors.data(), carried_.data() + strip.row(strip.steps, 0) * stride);
  if (forward_.active(strip.begin + strip.steps - 1) < strip.slots)
    std::fill_n(carried_.data(), strip.row(strip.steps, 0) * stride, 0.0);
  for (std::size_t k = strip.steps; k > 0;) {
    const std::size_t running = forward_.active(strip.begin + k);
    const std::size_t entered = forward_.active(strip.begin + k - 1);
    // Until the next sequence enters, at its last symbol:
    std::size_t to = k - 1;
    if (entered == running)
      to = running < strip.slots ? forward_.slots()[running].length - strip.begin : 0;
    if (running > 0) {
      kernels.backward({tables_, &strip, to, k, running, carried_.data(), counts.emissions.data(),
                        counts.spread});
    }
    for (std::size_t q = running; q < entered; ++q) enter(strip, q, k - 1, counts);
    k = to;
  }
  add_transitions(strip, counts);
}

/// The last symbol of a sequence: after it β is constant, such that Σ α β is the sequence's weight.
void TileExpectation::enter(const Strip& strip, std::size_t slot, std::size_t step,
                            TileCounts& counts) {
  const std::size_t stride = tables_->stride;
  const double beta = weights_[slot] / forward_.slots()[slot].sum;
  double* emissions = counts.emissions.data() + slot * counts.spread;
  const std::size_t row = strip.emitted[slot * kStripSteps + step];
  const double* alpha = strip.states + strip.row(step + 1, slot) * stride;
  double* to = carried_.data() + strip.row(step, slot) * stride;
  for (std::size_t i = 0; i < tables_->states; ++i) {
    emissions[row + i] += alpha[i] * beta;
    to[i] = tables_->emission[row + i] * beta;
  }
}

void TileExpectation::add_transitions(const Strip& strip, TileCounts& counts) const {
  PanelProduct product;
  product.rows = padded_rows(static_cast<Index>(tables_->states));
  product.depth = static_cast<Index>(strip.row(strip.steps, 0));
  product.cols = static_cast<Index>(tables_->states);
  product.left = carried_.data();
  product.right = strip.states;
  product.out = counts.transitions.data();
  product.left_stride = product.depth_step = product.out_stride =
      static_cast<Index>(tables_->stride);
  product.col_step = 1;
  product.add = true;
  multiply_(product);
}

/// Σ α β before the first symbol of a segment must still be the weight. It is set back to it, so
/// that rounding does not add up, and is far off only where states left the range of doubles.
void TileExpectation::close_segment(const Strip& first, TileCounts& counts,
                                    std::vector<std::size_t>& lost) {
  const std::size_t stride = tables_->stride;
  PanelProduct product;
  product.rows = padded_rows(static_cast<Index>(tables_->states));
  product.depth = static_cast<Index>(tables_->states);
  product.cols = static_cast<Index>(first.slots);
  product.left = tables_->rows.data();
  product.right = carried_.data();
  product.out = beta_.data();
  product.left_stride = product.col_step = product.out_stride = static_cast<Index>(stride);
  multiply_(product);
  for (std::size_t q = 0; q < first.slots; ++q) {
    const double* alpha = first.states + q * stride;
    const double* beta = beta_.data() + q * stride;
    double total = 0.0;
    for (std::size_t i = 0; i < tables_->states; ++i) total += alpha[i] * beta[i];
    total /= weights_[q];
    if (!(std::abs(total - 1.0) < 1e-9)) {
      lost.push_back(forward_.slots()[q].sequence);
      total = 1.0;
    }
    double* carried = carried_.data() + q * stride;
    for (std::size_t i = 0; i < tables_->states; ++i) carried[i] /= total;
    if (first.begin > 0) continue;
    for (std::size_t i = 0; i < tables_->states; ++i)
      counts.initial[i] += alpha[i] * beta[i] / total;
  }
}

}  // namespace hqmm::detail
