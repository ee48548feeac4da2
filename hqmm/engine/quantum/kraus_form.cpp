#include "hqmm/engine/quantum/kraus_form.hpp"

#include <algorithm>

#include "hqmm/core/real_form.hpp"

namespace hqmm {
void KrausForm::write(const Hqmm& model, bool feasible) {
  const bool other_padding = n_ != model.latent_dim();
  n_ = model.latent_dim();
  stride_ = column_stride(2 * n_);
  sets_ = model.sets.size();
  symbols_ = static_cast<std::size_t>(model.alphabet_size());
  rank_ = static_cast<std::size_t>(model.kraus_rank());
  const std::size_t size = sets_ * symbols_ * rank_ * matrix_size();
  if (other_padding || matrices_.size() != size) {
    for (AlignedDoubles* table : {&matrices_, &adjoints_}) {
      table->resize(size);
      std::fill_n(table->data(), size, 0.0);  // padding is multiplied along
    }
    initial_.resize(static_cast<std::size_t>(state_size()));
    std::fill_n(initial_.data(), initial_.size(), 0.0);
  }
  grams_.clear();
  double* to = matrices_.data();
  double* to_adjoint = adjoints_.data();
  for (const KrausSet& set : model.sets) {
    for (Index row = 0; row < set.gamma().rows(); row += n_) {
      write_real_form(set.gamma().data() + row * n_, n_, stride_, to);
      const Stack adjoint_block = set.gamma().middleRows(row, n_).adjoint();
      write_real_form(adjoint_block.data(), n_, stride_, to_adjoint);
      to += matrix_size();
      to_adjoint += matrix_size();
    }
    if (feasible) continue;
    AlignedDoubles& gram = grams_.emplace_back(static_cast<std::size_t>(state_size()));
    write_columns(set.gamma().adjoint() * set.gamma(), stride_, gram.data());
  }
  write_columns(model.initial_state, stride_, initial_.data());
}

KrausForm::Blocks KrausForm::blocks_of(std::uint32_t op) const {
  const std::size_t per_set = symbols_ * rank_;
  if (op >= sets_ * symbols_) {
    const std::size_t set = op - sets_ * symbols_;
    return {set, set * per_set, per_set};
  }
  return {op / symbols_, op * rank_, rank_};
}

void KrausForm::copy_initial(double* x) const { std::copy_n(initial_.data(), initial_.size(), x); }

void KrausForm::forward(std::uint32_t op, const double* states, std::size_t count,
                        double* const* next, FormScratch& scratch) const {
  const Blocks blocks = blocks_of(op);
  scratch.images.resize(static_cast<std::size_t>(2 * state_size()));
  for (std::size_t i = 0; i < count; ++i) {
    const double* rho = states + i * static_cast<std::size_t>(state_size());
    for (std::size_t q = 0; q < blocks.count; ++q) {
      conjugate(kernel_, matrix(blocks.first + q), rho, n_, stride_, scratch.images.data(), q > 0,
                next[i]);
    }
  }
}

void KrausForm::backward(std::uint32_t op, const double* adjoints, const double* states,
                         std::size_t count, double* const* previous, GradientTable& gradients,
                         FormScratch& scratch) const {
  const Blocks blocks = blocks_of(op);
  const auto size = static_cast<std::size_t>(state_size());
  scratch.images.resize(2 * size * count);
  scratch.products.resize(size * count);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(adjoints + i * size, size, scratch.images.data() + 2 * i * size);
    write_i_behind(scratch.images.data() + 2 * i * size, n_, stride_);
  }
  PanelProduct product{.rows = padded_rows(2 * n_), .depth = 2 * n_, .cols = n_};
  product.left_stride = product.out_stride = stride_;
  for (std::size_t q = 0; q < blocks.count; ++q) {
    product.depth = 2 * n_;
    product.cols = n_;
    product.depth_step = 1;
    product.col_step = stride_;
    for (std::size_t i = 0; i < count; ++i) {
      // U = S K
      product.left = scratch.images.data() + 2 * i * size;
      product.right = matrix(blocks.first + q);
      product.out = scratch.products.data() + i * size;
      product.add = false;
      kernel_(product);
      // S ← Σ K† U
      product.left = adjoint(blocks.first + q);
      product.right = product.out;
      product.out = previous[i];
      product.add = q > 0;
      kernel_(product);
    }
    // U ρ = Σ_j u_j ρ_j† over the columns
    product.depth = n_ * static_cast<Index>(count);
    product.cols = 2 * n_;
    product.depth_step = stride_;
    product.col_step = 1;
    product.left = scratch.products.data();
    product.right = states;
    const OperatorGradient gradient = gradients.of(blocks.first + q);
    product.out = gradient.values;
    product.add = *gradient.used != 0;
    kernel_(product);
    *gradient.used = 1;
  }
}

double KrausForm::weight(const double* x) const {
  double sum = 0.0;
  for (Index i = 0; i < n_; ++i) sum += x[i * stride_ + i];
  return sum;
}

void KrausForm::add_slope(const double* x, double c, double* z) const {
  const double factor = c / weight(x);
  for (Index i = 0; i < n_; ++i) z[i * stride_ + i] += factor;
}

double KrausForm::total(std::uint32_t op, const double* x, FormScratch& /*scratch*/) const {
  const double* gram = grams_[blocks_of(op).set].data();
  double sum = 0.0;
  for (Index j = 0; j < n_; ++j)
    for (Index i = 0; i < 2 * n_; ++i) sum += gram[j * stride_ + i] * x[j * stride_ + i];
  return sum;
}

void KrausForm::write_gradient(const Hqmm& model, const GradientTable& table,
                               const std::vector<double>& initial, BatchGradient& out) const {
  for (const KrausSet& set : model.sets) out.sets.push_back(Stack::Zero(set.gamma().rows(), n_));
  const std::size_t per_set = symbols_ * rank_;
  for (std::size_t block = 0; block < table.operators(); ++block) {
    if (!table.used(block)) continue;
    add_complex_gradient(
        table.values(block), n_, stride_, -2.0,
        out.sets[block / per_set].data() + static_cast<Index>(block % per_set) * n_ * n_);
  }
  if (initial.empty()) return;
  const Matrix s = read_columns(initial.data(), n_, stride_);
  out.initial_state = -0.5 * (s + s.adjoint());
}

}  // namespace hqmm
