#include "hqmm/engine/batch_walk.hpp"

#include <algorithm>
#include <numeric>

namespace hqmm::detail {
namespace {

constexpr std::size_t kStepsRead = 32;  // at a time

}  // namespace

BatchWalk::BatchWalk(const WordTable& table, const SequenceView& sequence, std::size_t states,
                     bool sorted)
    : table_(table),
      sequence_(sequence),
      reader_(table, sequence, 1),
      kernel_(panel_kernel()),
      alone_kernel_(panel_kernel_for(padded_rows(table.model().rows), 1)),
      dot_(column_dot()),
      first_word_(table.first_of(table.length())),
      word_count_(table.words() - first_word_),
      stride_(static_cast<std::size_t>(table.model().stride)),
      sorted_(sorted),
      states_(states),
      words_(states * kStepsRead),
      slots_(states),
      next_(states),
      order_(states),
      ends_(word_count_),
      scatter_(states),
      x_(states * stride_, 0.0),
      y_(states * stride_, 0.0) {}

void BatchWalk::set(std::size_t i, const WalkState& state) {
  std::copy_n(state.x.begin(), stride_, x_.data() + i * stride_);
  states_[i] = {state.weight, state.exponent, state.in_doubt};
}

void BatchWalk::forward(std::span<const std::size_t> from, std::size_t words) {
  for (std::size_t done = 0; done < words; done += kStepsRead) {
    const std::size_t steps = std::min(kStepsRead, words - done);
    read(from, done, steps);
    sorted_ ? forward_sorted(steps) : forward_alone(steps);
  }
}

void BatchWalk::forward_sorted(std::size_t steps) {
  sort(0, slots_);
  for (std::size_t i = 0; i < size(); ++i)
    std::copy_n(x_.data() + i * stride_, stride_, y_.data() + slots_[i] * stride_);
  x_.swap(y_);
  for (std::size_t t = 0; t < steps; ++t) step(t, t + 1 == steps);
}

void BatchWalk::forward_alone(std::size_t steps) {
  const LinearModel& model = table_.model();
  PanelProduct product{.rows = padded_rows(model.rows), .depth = model.rows, .cols = 1};
  product.left_stride = product.col_step = product.out_stride = model.stride;
  for (std::size_t t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < size(); ++i) {
      const std::uint32_t word = words_[i * kStepsRead + t];
      product.left = table_.matrix(word);
      product.right = x_.data() + i * stride_;
      product.out = y_.data() + i * stride_;
      alone_kernel_(product);
      weigh(word, i, product.out);
    }
    x_.swap(y_);
  }
}

void BatchWalk::read(std::span<const std::size_t> from, std::size_t first_word, std::size_t words) {
  const std::size_t length = table_.length();
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t begin = from[i] + first_word * length;
    const std::span<std::uint32_t> mine(&words_[i * kStepsRead], kStepsRead);
    if (reader_.read({begin, begin + words * length}, mine) == words) continue;
    states_[i].in_doubt = true;  // a symbol that the model does not have
    std::fill(mine.begin(), mine.end(), first_word_);
  }
}

void BatchWalk::sort(std::size_t t, std::vector<std::uint32_t>& slots) {
  std::fill(ends_.begin(), ends_.end(), 0);
  const std::uint32_t* words = words_.data() + t;
  for (std::size_t i = 0; i < size(); ++i) ++ends_[words[i * kStepsRead] - first_word_];
  std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::uint32_t{0});
  for (std::size_t i = 0; i < size(); ++i) slots[i] = ends_[words[i * kStepsRead] - first_word_]++;
}

void BatchWalk::step(std::size_t t, bool last) {
  for (std::size_t i = 0; i < size(); ++i) order_[slots_[i]] = static_cast<std::uint32_t>(i);
  if (last) {
    std::iota(next_.begin(), next_.end(), 0);
  } else {
    sort(t + 1, next_);
  }
  for (std::size_t first = 0; first < size();) {
    const std::uint32_t word = words_[order_[first] * kStepsRead + t];
    std::size_t end = first + 1;
    while (end < size() && words_[order_[end] * kStepsRead + t] == word) ++end;
    move(word, first, end);
    first = end;
  }
  x_.swap(y_);
  slots_.swap(next_);
}

void BatchWalk::move(std::uint32_t word, std::size_t first, std::size_t end) {
  const LinearModel& model = table_.model();
  for (std::size_t slot = first; slot < end; ++slot)
    scatter_[slot - first] = y_.data() + next_[order_[slot]] * stride_;
  PanelProduct product{.rows = padded_rows(model.rows), .depth = model.rows};
  product.cols = static_cast<Index>(end - first);
  product.left = table_.matrix(word);
  product.right = x_.data() + first * stride_;
  product.left_stride = product.col_step = model.stride;
  product.scatter = scatter_.data();
  kernel_(product);
  for (std::size_t slot = first; slot < end; ++slot)
    weigh(word, order_[slot], scatter_[slot - first]);
}

void BatchWalk::weigh(std::uint32_t word, std::size_t i, double* x) {
  Standing& standing = states_[i];
  const WordScale& scale = table_.scales()[word];
  const LinearModel& model = table_.model();
  double weight = 0.0;
  if (model.squared) {
    weight = dot_(x, x, padded_rows(model.rows), 1, model.stride);
  } else {
    for (Index j = 0; j < model.traced; ++j) weight += x[j];
  }
  // what is not a number compares as false
  if (!(weight > scale.least * standing.weight)) standing.in_doubt = true;
  standing.weight = weight;
  standing.exponent += scale.exponent;
  if (!(weight > kSmallWeight && weight < kLargeWeight)) rescale(standing, x);
}

void BatchWalk::rescale(Standing& standing, double* x) const {
  WalkState state = reader_.blank();
  std::copy_n(x, stride_, state.x.begin());
  state.weight = standing.weight;
  state.exponent = standing.exponent;
  reader_.rescale(state);
  std::copy_n(state.x.begin(), stride_, x);
  standing.weight = state.weight;
  standing.exponent = state.exponent;
  standing.in_doubt |= state.in_doubt;
}

}  // namespace hqmm::detail
