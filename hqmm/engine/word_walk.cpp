#include "hqmm/engine/word_walk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "hqmm/core/interruption.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kWordsRead = 2048;  // at a time
using Words = std::array<std::uint32_t, kWordsRead + kBlockAhead>;

}  // namespace

WordWalk::WordWalk(const WordTable& table, const SequenceView& sequence, Index cols)
    : table_(&table),
      sequence_(sequence),
      cols_(cols),
      kernel_(panel_kernel_for(padded_rows(table.model().rows), cols)) {}

WalkState WordWalk::blank() const {
  WalkState out;
  const Index stride = table_->model().stride;
  // the kernels of small operators take whole squares
  const Index cols = stride <= kMostBlockRows ? std::max(stride, cols_) : cols_;
  const auto size = static_cast<std::size_t>(stride * cols);
  out.x.assign(size, 0.0);
  out.spare.assign(size, 0.0);
  return out;
}

WalkState WordWalk::initial() const {
  WalkState out = blank();
  std::copy(table_->model().initial.begin(), table_->model().initial.end(), out.x.begin());
  out.weight = table_->model().weight(out.x.data(), cols_);
  return out;
}

WalkState WordWalk::certain() const {
  WalkState out = blank();
  std::fill_n(out.x.data(), table_->model().traced, 1.0);
  out.weight = static_cast<double>(table_->model().traced);
  return out;
}

WalkState WordWalk::identity() const {
  WalkState out = blank();
  for (Index j = 0; j < cols_; ++j)
    out.x[static_cast<std::size_t>(j * table_->model().stride + j)] = 1.0;
  out.weight = table_->model().heaviest(out.x.data());
  return out;
}

double WordWalk::meet(WalkState& state, const WalkState& from_end) const {
  double weight = 0.0;
  for (Index i = 0; i < table_->model().rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    weight += state.x[at] * from_end.x[at];
  }
  const double most = state.weight * from_end.weight;
  state.in_doubt |= from_end.in_doubt || !(weight > table_->model().doubtful * most);
  return weight;
}

void WordWalk::forward(WalkState& state, Stretch stretch) const {
  const std::size_t step_symbols = kWordsRead * table_->length();
  Words words;
  for (std::size_t from = stretch.from; from < stretch.to && !state.in_doubt;
       from += step_symbols) {
    const std::size_t count = read({from, std::min(stretch.to, from + step_symbols)}, words);
    state.in_doubt |= count == 0;
    for (std::size_t k = 0; k < count; ++k) step(state, words[k], false);
  }
}

void WordWalk::forward_blocks(std::span<WalkState> blocks,
                              std::span<const Stretch> stretches) const {
  const bool few = table_->model().rows <= kMostBlockRows;
  for (std::size_t i = 0; i < blocks.size(); i += few ? kBlockChains : 1) {
    const std::size_t count = std::min(kBlockChains, blocks.size() - i);
    if (few) {
      forward_few(blocks.subspan(i, count), stretches.subspan(i, count));
    } else {
      forward(blocks[i], stretches[i]);
    }
  }
}

void WordWalk::forward_few(std::span<WalkState> blocks, std::span<const Stretch> stretches) const {
  const LinearModel& model = table_->model();
  const std::size_t step_symbols = kWordsRead * table_->length();
  std::array<Words, kBlockChains> words{};
  BlockRun run{.rows = model.rows,
               .traced = model.traced,
               .squared = model.squared,
               .matrices = table_->matrices(),
               .scales = table_->scales(),
               .chain = {}};
  for (std::size_t at = 0;; at += step_symbols) {
    std::array<std::size_t, kBlockChains> counts{};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t from = std::min(stretches[i].to, stretches[i].from + at);
      counts[i] = read({from, std::min(stretches[i].to, from + step_symbols)}, words[i]);
      blocks[i].in_doubt |= counts[i] == 0 && from < stretches[i].to;
      if (blocks[i].in_doubt) return;
      run.chain[i].words = words[i].data();
    }
    const std::span met(counts.data(), blocks.size());
    if (std::ranges::max(met) == 0) return;
    // side by side as far as both go, then each alone
    run.chains = blocks.size();
    run.from = 0;
    run.to = std::ranges::min(met);
    lead(run, blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      BlockRun alone = run;
      alone.chains = 1;
      alone.to = counts[i];
      alone.chain[0].words = words[i].data();
      lead(alone, blocks.subspan(i, 1));
    }
  }
}

void WordWalk::lead(BlockRun& run, std::span<WalkState> blocks) const {
  const BlockKernel kernel = block_kernel(run.rows, run.squared);
  while (run.from < run.to) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      run.chain[i].x = blocks[i].x.data();
      run.chain[i].weight = blocks[i].weight;
      run.chain[i].exponent = blocks[i].exponent;
    }
    run.from = kernel(run);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].weight = run.chain[i].weight;
      blocks[i].exponent = run.chain[i].exponent;
      blocks[i].in_doubt |= run.chain[i].in_doubt;
      rescale(blocks[i]);
      if (blocks[i].in_doubt) run.from = run.to;
    }
  }
}

void WordWalk::backward(WalkState& state, Stretch stretch) const {
  const std::size_t step_symbols = kWordsRead * table_->length();
  Words words;
  const std::size_t steps = (stretch.to - stretch.from + step_symbols - 1) / step_symbols;
  for (std::size_t i = steps; i-- > 0 && !state.in_doubt;) {
    const std::size_t from = stretch.from + i * step_symbols;
    std::size_t count = read({from, std::min(stretch.to, from + step_symbols)}, words);
    state.in_doubt |= count == 0;
    while (count-- > 0) step(state, words[count], true);
  }
}

void WordWalk::move(WalkState& state, const double* matrix, double least,
                    std::int64_t exponent) const {
  const LinearModel& model = table_->model();
  PanelProduct product{.rows = padded_rows(model.rows), .depth = model.rows, .cols = cols_};
  product.left = matrix;
  product.right = state.x.data();
  product.out = state.spare.data();
  product.left_stride = product.col_step = product.out_stride = model.stride;
  kernel_(product);
  state.x.swap(state.spare);
  const double weight = cols_ == 1 || model.squared ? model.weight(state.x.data(), cols_)
                                                    : model.heaviest(state.x.data());
  // what is not a number compares as false
  if (!(weight > least * state.weight)) state.in_doubt = true;
  state.weight = weight;
  state.exponent += exponent;
  rescale(state);
}

void WordWalk::step(WalkState& state, std::uint32_t word, bool back) const {
  const WordScale& scale = table_->scales()[word];
  move(state, back ? table_->transposed(word) : table_->matrix(word), scale.least, scale.exponent);
}

void WordWalk::rescale(WalkState& state) const {
  if (state.weight > kSmallWeight && state.weight < kLargeWeight) return;
  if (!(state.weight > 0.0) || !std::isfinite(state.weight)) {  // worthless: but in range
    state.in_doubt = true;
    std::fill(state.x.begin(), state.x.end(), 0.0);
    state.x[0] = state.weight = 1.0;
    return;
  }
  const int degree = table_->model().squared ? 2 : 1;
  const int exponent = std::ilogb(state.weight) / degree;
  const double factor = std::ldexp(1.0, -exponent);
  for (double& value : state.x) value *= factor;
  state.weight = std::ldexp(state.weight, -exponent * degree);
  state.exponent += static_cast<std::int64_t>(exponent) * degree;
}

std::size_t WordWalk::read(Stretch stretch, std::span<std::uint32_t> words) const {
  check_interruption();
  const SequenceView part = sequence_.part(stretch.from, stretch.to - stretch.from);
  const auto radix = static_cast<std::uint32_t>(table_->model().symbols);
  const std::size_t length = table_->length();
  const bool has_missing = table_->model().has_missing;
  return part.with_stored([&](const auto* symbols) -> std::size_t {
    using Stored = std::remove_cvref_t<decltype(*symbols)>;
    const auto digit = [&](Stored symbol) -> std::uint32_t {
      return has_missing && symbol == std::numeric_limits<Stored>::max() ? radix - 1 : symbol;
    };
    std::uint32_t largest = 0;
    std::size_t count = 0;
    for (std::size_t t = 0; t < part.size(); ++count) {
      const std::size_t end = std::min(t + length, part.size());
      const std::uint32_t first = table_->first_of(end - t);
      std::uint32_t value = 0;
      for (; t < end; ++t) {
        const std::uint32_t next = digit(symbols[t]);
        largest = std::max(largest, next);
        value = value * radix + next;
      }
      words[count] = first + value;
    }
    return largest < radix ? count : 0;
  });
}

void WordWalk::apply(const WalkState& block, WalkState& state) const {
  const LinearModel& model = table_->model();
  AlignedDoubles matrix(model.operator_size(), 0.0);
  const Index n = model.block_cols;
  std::copy_n(block.x.begin(), n * model.stride, matrix.begin());
  if (n < model.rows) {  // the other columns of a real form
    for (Index j = 0; j < n; ++j) {
      const double* from = matrix.data() + j * model.stride;
      double* to = matrix.data() + (n + j) * model.stride;
      for (Index i = 0; i < n; ++i) to[i] = -from[n + i];
      for (Index i = 0; i < n; ++i) to[n + i] = from[i];
    }
  }
  const double least = model.doubtful * block.weight;
  state.in_doubt |= block.in_doubt;
  move(state, matrix.data(), least, block.exponent);
}

}  // namespace hqmm::detail
