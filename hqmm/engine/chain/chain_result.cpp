#include "hqmm/engine/chain/chain_result.hpp"

#include <algorithm>

namespace hqmm {

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

GradientTable& GradientTable::operator+=(const GradientTable& other) {
  for (std::size_t op = 0; op < other.operators(); ++op)
    if (other.used(op)) add(op, other.values(op));
  return *this;
}

ChainResult& ChainResult::operator+=(const ChainResult& other) {
  gradients += other.gradients;
  for (std::size_t i = 0; i < initial.size(); ++i) initial[i] += other.initial[i];
  if (other.least.weight < least.weight) least = other.least;
  return *this;
}

}  // namespace hqmm
