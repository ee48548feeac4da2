#include "hqmm/engine/chain/chain_result.hpp"

#include <algorithm>
#include <array>

#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {

void GradientTable::reset(std::size_t operators, std::size_t size) {
  size_ = size;
  values_.resize(operators * size);
  used_.assign(operators, 0);
}

double* GradientTable::started(std::size_t op) {
  const OperatorGradient mine = of(op);
  if (*mine.used == 0) std::fill_n(mine.values, size_, 0.0);
  *mine.used = 1;
  return mine.values;
}

void GradientTable::add(std::size_t op, const double* values) {
  const OperatorGradient mine = of(op);
  if (*mine.used == 0) {
    std::copy_n(values, size_, mine.values);
    *mine.used = 1;
  } else {
    for (std::size_t i = 0; i < size_; ++i) mine.values[i] += values[i];
  }
}

void GradientTable::add(const GradientTable& other, std::size_t first, std::size_t last) {
  for (std::size_t op = first; op < last; ++op)
    if (other.used(op)) add(op, other.values(op));
}

void fold_results(std::span<ChainResult* const> results, int threads) {
  if (results.empty()) return;
  const GradientTable& table = results.front()->gradients;
  // blocks of about so many numbers: those of all results stay in the nearest cache
  constexpr std::size_t kBlock = 1024;
  const std::size_t ops = std::max<std::size_t>(1, kBlock / std::max<std::size_t>(1, table.size()));
  const std::size_t blocks = (table.operators() + ops - 1) / ops;
  parallel_for(blocks, threads, [&](std::size_t block) {
    const std::size_t first = block * ops;
    const std::size_t last = std::min(table.operators(), first + ops);
    std::vector<ChainResult*> folded(results.begin(), results.end());
    fold_tree(std::span(folded),
              [&](ChainResult* a, ChainResult* b) { a->gradients.add(b->gradients, first, last); });
  });
  std::vector<ChainResult*> folded(results.begin(), results.end());
  fold_tree(std::span(folded), [](ChainResult* a, const ChainResult* b) {
    for (std::size_t i = 0; i < a->initial.size(); ++i) a->initial[i] += b->initial[i];
    if (b->least.weight < a->least.weight) a->least = b->least;
  });
}

void GradientTable::pack(Packer& out) const {
  out.number(size_).numbers(std::span(used_));
  for (std::size_t op = 0; op < operators(); ++op)
    if (used(op)) out.numbers(std::span(values(op), size_));
}

void GradientTable::unpack(Unpacker& in) {
  size_ = in.number<std::size_t>();
  used_ = in.numbers<char>();
  values_.resize(operators() * size_);
  for (std::size_t op = 0; op < operators(); ++op)
    if (used(op)) in.numbers(std::span(of(op).values, size_));
}

void ChainResult::pack(Packer& out) const {
  gradients.pack(out);
  out.numbers(std::span(initial));
}

void ChainResult::unpack(Unpacker& in) {
  gradients.unpack(in);
  initial = in.numbers<double>();
}

ChainResult& ChainResult::operator+=(ChainResult& other) {
  fold_results(std::array{this, &other}, 1);
  return *this;
}

}  // namespace hqmm::detail
