#include "hqmm/engine/chain/linear_form.hpp"

#include <algorithm>
#include <limits>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/chain/word_uses.hpp"

namespace hqmm::detail {
template <int kDegree>
void LinearForm<kDegree>::reshape(Index rows, Index cols, Index traced, std::size_t operators,
                                  bool mirrored) {
  const bool same = rows == rows_ && cols == cols_ && operators <= operators_;
  rows_ = rows;
  stride_ = column_stride(rows);
  cols_ = cols;
  traced_ = traced;
  mirrored_ = mirrored;
  totals_.clear();
  word_totals_.clear();
  step_kernel_ = panel_kernel_for(padded_rows(rows), cols);
  word_kernel_ = panel_kernel_for(padded_rows(rows), own_cols());
  if (same) return;
  operators_ = operators;
  for (AlignedDoubles* table : {&forward_, &backward_}) {
    table->resize(operators * operator_size());
    std::fill_n(table->data(), table->size(), 0.0);  // padding is multiplied along
  }
  initial_.resize(static_cast<std::size_t>(state_size()));
  std::fill_n(initial_.data(), initial_.size(), 0.0);
}

template <int kDegree>
void LinearForm<kDegree>::transpose(std::size_t op) {
  const double* from = forward_matrix(op);
  double* to = backward_matrix(op);
  for (Index j = 0; j < rows_; ++j)
    for (Index i = 0; i < rows_; ++i) to[i * stride_ + j] = from[j * stride_ + i];
}

template <int kDegree>
void LinearForm<kDegree>::mirror(double* matrix) const {
  const Index n = rows_ / 2;
  for (Index j = 0; j < n; ++j) {
    const double* from = matrix + j * stride_;
    double* to = matrix + (n + j) * stride_;
    for (Index i = 0; i < n; ++i) to[i] = -from[n + i];
    for (Index i = 0; i < n; ++i) to[n + i] = from[i];
  }
}

template <int kDegree>
void LinearForm<kDegree>::gather_complex(double* g) const {
  const Index n = rows_ / 2;
  for (Index j = 0; j < n; ++j) {
    double* first = g + j * stride_;
    const double* second = g + (n + j) * stride_;
    for (Index i = 0; i < n; ++i) {
      first[i] += second[n + i];
      first[n + i] -= second[i];
    }
  }
  mirror(g);
}

template <int kDegree>
PanelProduct LinearForm<kDegree>::operator_product(const double* left, const double* right,
                                                   double* out) const {
  PanelProduct product{.rows = padded_rows(rows_), .depth = rows_, .cols = own_cols()};
  product.left_stride = product.col_step = product.out_stride = stride_;
  product.left = left;
  product.right = right;
  product.out = out;
  return product;
}

template <int kDegree>
int LinearForm<kDegree>::threads_for(std::size_t products, int threads) const {
  const auto one = static_cast<std::size_t>(rows_ * rows_ * own_cols());
  return products * one < 50'000 ? 1 : threads;
}

template <int kDegree>
void LinearForm<kDegree>::multiply_word(const Program& program, std::size_t i) {
  // R = R_last R_prefix, Rᵀ = R_prefixᵀ R_lastᵀ
  const auto& [prefix, last] = program.words[i];
  const std::size_t op = program.base_operators + i;
  word_kernel_(operator_product(forward_matrix(last), forward_matrix(prefix), forward_matrix(op)));
  word_kernel_(
      operator_product(backward_matrix(prefix), backward_matrix(last), backward_matrix(op)));
  if (!mirrored_) return;
  mirror(forward_matrix(op));
  mirror(backward_matrix(op));
}

template <int kDegree>
void LinearForm<kDegree>::multiply_words(const Program& program, int threads) {
  // words of three are made of those of two
  const std::size_t ends[] = {program.pairs, program.words.size()};
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    parallel_for(end - begin, threads_for(2 * (end - begin), threads),
                 [&, begin](std::size_t i) { multiply_word(program, begin + i); });
    begin = end;
  }
  if (!totals_.empty() && !program.words.empty()) write_word_totals(program, threads);
}

template <int kDegree>
void LinearForm<kDegree>::write_word_totals(const Program& program, int threads) {
  word_totals_.reshape(program, kDegree == 1 ? static_cast<std::size_t>(stride_) : operator_size());
  const std::size_t symbols = symbols_;
  parallel_for(symbols + program.pairs, threads_for(4 * (symbols + program.pairs), threads),
               [&](std::size_t i) {
                 write_word_total(i < symbols ? i : program.base_operators + i - symbols);
               });
}

template <int kDegree>
void LinearForm<kDegree>::write_word_total(std::size_t op) {
  const double* g = totals_.front().data();  // words are of stationary models
  if constexpr (kDegree == 1) {
    for (Index j = 0; j < rows_; ++j) {
      const double* column = forward_matrix(op) + j * stride_;
      word_totals_.total(op)[j] = dot_(g, column, padded_rows(rows_), 1, stride_);
      for (Index i = 0; i < traced_; ++i) word_totals_.weight(op)[j] += column[i];
    }
  } else {
    AlignedDoubles image(operator_size());  // G R
    PanelProduct product = operator_product(g, forward_matrix(op), image.data());
    product.cols = rows_;
    kernel_(product);
    product.left = backward_matrix(op);
    product.right = image.data();
    product.out = word_totals_.total(op);
    kernel_(product);
    product.right = forward_matrix(op);
    product.out = word_totals_.weight(op);
    kernel_(product);
  }
}

template <int kDegree>
void LinearForm<kDegree>::chain_words(const Program& program, int threads,
                                      GradientTable& table) const {
  if (program.words.empty()) return;
  chain_level(program, program.pairs, program.words.size(), threads, table);
  chain_level(program, 0, program.pairs, threads, table);
}

template <int kDegree>
void LinearForm<kDegree>::chain_level(const Program& program, std::size_t begin, std::size_t end,
                                      int threads, GradientTable& table) const {
  if (begin == end) return;
  const auto op_of = [&](std::size_t i) { return program.base_operators + i; };
  threads = threads_for(2 * (end - begin), threads);
  if (mirrored_) {
    parallel_for(end - begin, threads, [&](std::size_t i) {
      const std::size_t op = op_of(begin + i);
      if (table.used(op)) gather_complex(table.of(op).values);
    });
  }
  // What goes to one operator is added up by one thread, in the order of the words.
  const WordUses uses(program, begin, end, table);
  parallel_for(uses.operators(), threads, [&](std::size_t k) {
    const OperatorGradient to = table.of(uses.op(k));
    if (mirrored_ && *to.used == 0) {  // only the first half of the columns is written
      const Index half = rows_ / 2 * stride_;
      std::fill_n(to.values + half, half, 0.0);
    }
    for (const WordUses::Use& use : uses.of(k)) {
      const Word& word = program.words[use.word];
      const double* g = table.values(op_of(use.word));
      // ∂ by R_prefix is R_lastᵀ G, ∂ by R_last is G R_prefixᵀ
      PanelProduct product = use.as_prefix
                                 ? operator_product(backward_matrix(word.last), g, to.values)
                                 : operator_product(g, backward_matrix(word.prefix), to.values);
      product.add = *to.used != 0;
      word_kernel_(product);
      *to.used = 1;
    }
  });
}

template <int kDegree>
void LinearForm<kDegree>::copy_initial(double* x) const {
  std::copy_n(initial_.data(), initial_.size(), x);
}

template <int kDegree>
void LinearForm<kDegree>::apply(const double* matrix, const double* states, std::size_t count,
                                double* const* next) const {
  PanelProduct product{.rows = padded_rows(rows_), .depth = rows_, .left = matrix};
  product.left_stride = product.col_step = product.out_stride = stride_;
  if (cols_ == 1 && count > 1) {
    product.cols = static_cast<Index>(count);
    product.right = states;
    product.scatter = next;
    kernel_(product);
    return;
  }
  product.cols = cols_;
  for (std::size_t i = 0; i < count; ++i) {
    product.right = states + i * static_cast<std::size_t>(state_size());
    product.out = next[i];
    step_kernel_(product);
  }
}

template <int kDegree>
void LinearForm<kDegree>::forward(std::uint32_t op, const double* states, std::size_t count,
                                  double* const* next, FormScratch& /*scratch*/) const {
  apply(forward_matrix(op), states, count, next);
}

template <int kDegree>
void LinearForm<kDegree>::backward(std::uint32_t op, const double* adjoints,
                                   const double* /*states*/, std::size_t count,
                                   double* const* previous, GradientTable& /*gradients*/,
                                   FormScratch& /*scratch*/) const {
  apply(backward_matrix(op), adjoints, count, previous);
}

template <int kDegree>
void LinearForm<kDegree>::accumulate(std::uint32_t op, const double* adjoints, const double* states,
                                     std::size_t count, GradientTable& gradients) const {
  add_outer_products(kernel_, {rows_, stride_, static_cast<Index>(count) * cols_}, adjoints, states,
                     gradients.of(op));
}

template <int kDegree>
double LinearForm<kDegree>::weight(const double* x) const {
  if constexpr (kDegree == 2) return dot_(x, x, padded_rows(rows_), cols_, stride_);
  double sum = 0.0;
  for (Index i = 0; i < traced_; ++i) sum += x[i];
  return sum;
}

template <int kDegree>
void LinearForm<kDegree>::add_slope(const double* x, double c, double* z) const {
  const double factor = c / weight(x);
  if constexpr (kDegree == 1) {
    for (Index i = 0; i < traced_; ++i) z[i] += factor;
  } else {
    for (Index j = 0; j < cols_; ++j)
      for (Index i = 0; i < rows_; ++i) z[j * stride_ + i] += 2.0 * factor * x[j * stride_ + i];
  }
}

template <int kDegree>
double LinearForm<kDegree>::total(std::uint32_t op, const double* x, FormScratch& scratch) const {
  const double before = total_before(op, x, scratch);
  std::uint32_t prefix = 0;
  if (word_totals_.empty() || !word_totals_.prefix_of(op, prefix)) return before;
  const Index rows = padded_rows(rows_);
  const double* rho = x;
  Index cols = 1;
  if constexpr (kDegree == 2) {
    scratch.products.resize(operator_size());
    PanelProduct product{.rows = rows, .depth = cols_, .cols = rows_, .left = x, .right = x};
    product.left_stride = product.depth_step = product.out_stride = stride_;
    product.col_step = 1;
    product.out = scratch.products.data();
    kernel_(product);
    rho = product.out;
    cols = rows_;
  }
  double ratios = 1.0;
  do {
    const double weight = dot_(word_totals_.weight(prefix), rho, rows, cols, stride_);
    if (!(weight > kSmallestWeight && weight < kLargestWeight))
      return std::numeric_limits<double>::quiet_NaN();
    ratios *= dot_(word_totals_.total(prefix), rho, rows, cols, stride_) / weight;
  } while (word_totals_.prefix_of(prefix, prefix));
  return before * ratios;
}

template <int kDegree>
double LinearForm<kDegree>::total_before(std::uint32_t op, const double* x,
                                         [[maybe_unused]] FormScratch& scratch) const {
  const std::size_t missing = symbols_ * totals_.size();
  const std::size_t set = op < missing                    ? op / symbols_
                          : op < missing + totals_.size() ? op - missing
                                                          : 0;
  const double* g = totals_[set].data();
  const Index rows = padded_rows(rows_);
  if constexpr (kDegree == 1) return dot_(g, x, rows, 1, stride_);  // tr(Γ†Γ ρ)
  scratch.images.resize(static_cast<std::size_t>(state_size()));  // Γ†Γ A of tr(A† Γ†Γ A)
  PanelProduct product{.rows = rows, .depth = rows_, .cols = cols_, .left = g, .right = x};
  product.left_stride = product.col_step = product.out_stride = stride_;
  product.out = scratch.images.data();
  step_kernel_(product);
  return dot_(product.out, x, rows, cols_, stride_);
}

template class LinearForm<1>;
template class LinearForm<2>;

}  // namespace hqmm::detail
