#include "hqmm/engine/word_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {
namespace {

/// Whole vectors; columns lie without gaps, so that an operator is one stream of memory.
Index column_distance(Index rows) { return rows <= 4 ? 4 : (rows + 7) / 8 * 8; }

/// Several sums at a time: additions need not wait for each other.
template <typename Term>
double sum_of_terms(Index size, Term term) {
  std::array<double, 8> sums{};
  Index i = 0;
  for (; i + 8 <= size; i += 8)
    for (Index k = 0; k < 8; ++k) sums[static_cast<std::size_t>(k)] += term(i + k);
  for (; i < size; ++i) sums[0] += term(i);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

LinearModel::LinearModel(Index row_count, std::size_t symbol_count)
    : rows(row_count),
      stride(column_distance(row_count)),
      symbols(symbol_count),
      operators(symbol_count * operator_size(), 0.0) {}

double LinearModel::weight(const double* x, Index cols) const {
  if (squared) return sum_of_terms(cols * stride, [x](Index i) { return x[i] * x[i]; });
  double sum = 0.0;
  for (Index j = 0; j < cols; ++j, x += stride)
    sum += sum_of_terms(traced, [x](Index i) { return x[i]; });
  return sum;
}

double LinearModel::heaviest(const double* matrix) const {
  return weight(matrix, squared ? block_cols : traced);
}

WordTable::WordTable(const LinearModel& model, int length, bool both_ways, int threads)
    : model_(&model),
      both_ways_(both_ways),
      kernel_(panel_kernel_for(padded_rows(model.rows), model.rows)) {
  const auto s = static_cast<std::uint32_t>(model.symbols);
  firsts_.push_back(0);
  std::uint32_t words = 1;
  for (int k = 0; k < length; ++k) firsts_.push_back(firsts_.back() + (words *= s));
  scales_.resize(firsts_.back());
  // cleared by the threads that fill them: pages are slow to come
  forward_.resize(firsts_.back() * model.operator_size());
  if (both_ways) backward_.resize(forward_.size());
  for (std::uint32_t y = 0; y < s; ++y) take_symbol(y);
  constexpr std::uint32_t kTogether = 64;
  for (std::size_t k = 1; k < this->length(); ++k) {
    const std::uint32_t count = firsts_[k + 1] - firsts_[k];
    parallel_for((count + kTogether - 1) / kTogether, threads, [&](std::size_t part) {
      const auto begin = static_cast<std::uint32_t>(part) * kTogether;
      for (std::uint32_t v = begin; v < std::min(count, begin + kTogether); ++v)
        fuse(firsts_[k] + v, firsts_[k - 1] + v / s, v % s);
    });
  }
}

/// Padding is multiplied along.
void WordTable::clear(std::uint32_t word) {
  std::fill_n(own(forward_, word), model_->operator_size(), 0.0);
  if (both_ways_) std::fill_n(own(backward_, word), model_->operator_size(), 0.0);
}

void WordTable::take_symbol(std::uint32_t symbol) {
  clear(symbol);
  const double* from = model_->operators.data() + symbol * model_->operator_size();
  std::copy_n(from, model_->operator_size(), own(forward_, symbol));
  if (both_ways_) {
    double* to = own(backward_, symbol);
    for (Index j = 0; j < model_->rows; ++j)
      for (Index i = 0; i < model_->rows; ++i)
        to[i * model_->stride + j] = from[j * model_->stride + i];
  }
  normalise(symbol);
}

void WordTable::fuse(std::uint32_t word, std::uint32_t prefix, std::uint32_t last) {
  clear(word);
  multiply(matrix(last), matrix(prefix), own(forward_, word));
  if (both_ways_) multiply(transposed(prefix), transposed(last), own(backward_, word));
  scales_[word].exponent = scales_[prefix].exponent + scales_[last].exponent;
  normalise(word);
  // what little is left of two operators that all but exclude each other may be rounding
  const double most = scales_[prefix].heaviest * scales_[last].heaviest;
  const double found =
      std::ldexp(scales_[word].heaviest,
                 scales_[word].exponent - scales_[prefix].exponent - scales_[last].exponent);
  if (!(found > model_->doubtful * most))
    scales_[word].least = std::numeric_limits<double>::infinity();
}

/// Brings the heaviest weight into [1, 4).
void WordTable::normalise(std::uint32_t word) {
  WordScale& scale = scales_[word];
  double heaviest = model_->heaviest(matrix(word));
  if (heaviest > 0.0 && std::isfinite(heaviest)) {
    const int degree = model_->squared ? 2 : 1;
    const int halves = (std::ilogb(heaviest) & ~(degree - 1)) / degree;  // rounded down
    const double factor = std::ldexp(1.0, -halves);
    for (AlignedDoubles* table : {&forward_, &backward_}) {
      if (table->empty()) continue;
      double* matrix = own(*table, word);
      for (std::size_t i = 0; i < model_->operator_size(); ++i) matrix[i] *= factor;
    }
    scale.exponent += halves * degree;
    heaviest = std::ldexp(heaviest, -halves * degree);
    scale.least = model_->doubtful * heaviest;
  } else {
    scale.least = std::numeric_limits<double>::infinity();
  }
  scale.heaviest = heaviest;
}

void WordTable::multiply(const double* left, const double* right, double* out) const {
  PanelProduct product{
      .rows = padded_rows(model_->rows), .depth = model_->rows, .cols = model_->rows};
  product.left = left;
  product.right = right;
  product.out = out;
  product.left_stride = product.col_step = product.out_stride = model_->stride;
  kernel_(product);
}

}  // namespace hqmm::detail
