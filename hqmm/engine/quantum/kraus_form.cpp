#include "hqmm/engine/quantum/kraus_form.hpp"

#include <algorithm>
#include <array>

#include "hqmm/core/real_form.hpp"

namespace hqmm {
namespace {

/// So many states go back together: their products stay in the cache.
constexpr std::size_t kStatesTogether = 4;

/// Doubles that hold another shape's leftovers are cleared: padding is multiplied along.
void resize_cleared(AlignedDoubles& doubles, std::size_t size, bool other_padding) {
  if (!other_padding && doubles.size() == size) return;
  doubles.resize(size);
  std::fill_n(doubles.data(), size, 0.0);
}

/// The entry, cleared if this is its first use.
double* started(GradientTable& gradients, std::size_t entry, std::size_t size) {
  const OperatorGradient gradient = gradients.of(entry);
  if (*gradient.used == 0) std::fill_n(gradient.values, size, 0.0);
  *gradient.used = 1;
  return gradient.values;
}

}  // namespace

void KrausForm::write(const Hqmm& model, bool feasible) {
  const Index rows = model.field == Field::kReal ? model.latent_dim() : 2 * model.latent_dim();
  const bool other_padding = n_ != model.latent_dim() || rows_ != rows;
  real_ = model.field == Field::kReal;
  on_states_ = model.emits_on() == EmissionKind::kState;
  n_ = model.latent_dim();
  rows_ = rows;
  stride_ = column_stride(rows_);
  sets_ = model.sets.size();
  symbols_ = static_cast<std::size_t>(model.alphabet_size());
  rank_ = static_cast<std::size_t>(model.kraus_rank());
  blocks_ = on_states_ ? rank_ : rank_ * symbols_;
  for (AlignedDoubles* table : {&matrices_, &adjoints_})
    resize_cleared(*table, sets_ * blocks_ * matrix_size(), other_padding);
  resize_cleared(initial_, size(), other_padding);
  write_matrices(model);
  write_emissions(model);
  const auto write_state = [&](const Matrix& from, double* to) {
    if (real_) {
      const Stack by_rows = from;
      write_real_matrix(by_rows.data(), n_, stride_, to);
    } else {
      write_columns(from, stride_, to);
    }
  };
  write_state(model.initial_state, initial_.data());
  grams_.clear();
  if (feasible) return;
  grams_.reserve(sets_);
  for (const KrausSet& set : model.sets)
    write_state(set.gram(), grams_.emplace_back(size()).data());
}

void KrausForm::write_matrices(const Hqmm& model) {
  const auto write_form = real_ ? write_real_matrix : write_real_form;
  double* to = matrices_.data();
  double* to_adjoint = adjoints_.data();
  for (const KrausSet& set : model.sets) {
    for (Index row = 0; row < set.stack().rows(); row += n_) {
      write_form(set.stack().data() + row * n_, n_, stride_, to);
      const Stack adjoint_block = set.stack().middleRows(row, n_).adjoint();
      write_form(adjoint_block.data(), n_, stride_, to_adjoint);
      to += matrix_size();
      to_adjoint += matrix_size();
    }
  }
}

void KrausForm::write_emissions(const Hqmm& model) {
  emissions_.assign(on_states_ ? sets_ * symbols_ * emission_rows() : 0, 0.0);
  unseen_.assign(on_states_ ? sets_ * size() : 0, 0.0);
  if (!on_states_) return;
  double* to = emissions_.data();
  double* entries = unseen_.data();
  for (const KrausSet& set : model.sets) {
    for (Index y = 0; y < set.alphabet_size(); ++y, to += emission_rows())
      for (Index i = 0; i < rows_; ++i) to[i] = set.emission()(y, i % n_);
    const RealMatrix products = set.emission().transpose() * set.emission();
    for (Index j = 0; j < n_; ++j, entries += stride_)
      for (Index i = 0; i < rows_; ++i) entries[i] = products(i % n_, j);
  }
}

KrausForm::Step KrausForm::step_of(std::uint32_t op) const {
  Step step{};
  const bool missing = op >= sets_ * symbols_;
  step.set = missing ? op - sets_ * symbols_ : op / symbols_;
  step.symbol = op;
  if (on_states_) {
    step.first = step.set * rank_;
    step.runs = 1;
    if (missing) {
      step.unseen = unseen_.data() + step.set * size();
    } else {
      step.scale = emissions_.data() + op * emission_rows();
    }
  } else {
    step.first = missing ? step.set * blocks_ : op * rank_;
    step.runs = missing ? symbols_ : 1;
  }
  return step;
}

void KrausForm::copy_initial(double* x) const { std::copy_n(initial_.data(), initial_.size(), x); }

/// rows × rows times rows × n.
PanelProduct KrausForm::product() const {
  PanelProduct out{.rows = padded_rows(rows_), .depth = rows_, .cols = n_};
  out.left_stride = out.col_step = out.out_stride = stride_;
  return out;
}

/// Σ_q (K_q ρ) K_q†, of a real ρ the lower half.
void KrausForm::channel(const Step& step, const double* rho, FormScratch& scratch,
                        double* out) const {
  scratch.images.resize(rank_ * matrix_size());
  for (std::size_t run = 0; run < step.runs; ++run) {
    const std::size_t first = step.first + run * rank_;
    PanelProduct moved = product();
    moved.right = rho;
    for (std::size_t q = 0; q < rank_; ++q) {
      moved.left = matrix(first + q);
      moved.out = scratch.images.data() + q * matrix_size();
      kernel_(moved);
      if (!real_) write_i_behind(moved.out, n_, stride_);
    }
    // the images lie side by side, and so do the matrices, read by rows
    PanelProduct back = product();
    back.depth = static_cast<Index>(rank_) * rows_;
    back.left = scratch.images.data();
    back.right = matrix(first);
    back.depth_step = stride_;
    back.col_step = 1;
    back.out = out;
    back.add = run > 0;
    back.lower = real_;
    kernel_(back);
  }
}

/// Scales the entries, and gives a real state its upper half.
void KrausForm::finish(const Step& step, double* x) const {
  if (step.scale != nullptr) {
    kernels_.scale_entries(columns(n_), step.scale, step.scale, real_, x);
  } else if (step.unseen != nullptr) {
    for (std::size_t i = 0; i < size(); ++i) x[i] *= step.unseen[i];
  }
  if (real_) mirror_lower(x, n_, stride_);
}

void KrausForm::forward(std::uint32_t op, const double* states, std::size_t count,
                        double* const* next, FormScratch& scratch) const {
  const Step step = step_of(op);
  for (std::size_t i = 0; i < count; ++i) {
    channel(step, states + i * size(), scratch, next[i]);
    finish(step, next[i]);
  }
}

void KrausForm::backward(std::uint32_t op, const double* adjoints, const double* states,
                         std::size_t count, double* const* previous, GradientTable& gradients,
                         FormScratch& scratch) const {
  const Step step = step_of(op);
  for (std::size_t first = 0; first < count; first += kStatesTogether) {
    const std::size_t together = std::min(kStatesTogether, count - first);
    move_back(step, adjoints + first * size(), states + first * size(), together, previous + first,
              gradients, scratch);
  }
  if (step.unseen == nullptr) return;
  for (std::size_t i = 0; i < count; ++i)
    add_by_unseen(step, adjoints + i * size(), states + i * size(), gradients, scratch);
}

/// S D of an adjoint S, or its entries scaled, with i times it behind it.
const double* KrausForm::left_factor(const Step& step, const double* adjoint,
                                     double* buffer) const {
  if (real_ && !on_states_) return adjoint;
  if (step.scale != nullptr) {
    kernels_.scale_columns(columns(n_), adjoint, step.scale, buffer);
  } else if (step.unseen != nullptr) {
    for (std::size_t i = 0; i < size(); ++i) buffer[i] = adjoint[i] * step.unseen[i];
  } else {
    std::copy_n(adjoint, size(), buffer);
  }
  if (!real_) write_i_behind(buffer, n_, stride_);
  return buffer;
}

/// K_q† D of w matrices.
const double* KrausForm::scaled_adjoints(const Step& step, std::size_t first,
                                         FormScratch& scratch) const {
  if (step.scale == nullptr) return adjoint(first);
  scratch.scaled.resize(rank_ * matrix_size());
  for (std::size_t q = 0; q < rank_; ++q)
    kernels_.scale_columns(columns(rows_), adjoint(first + q), step.scale,
                           scratch.scaled.data() + q * matrix_size());
  return scratch.scaled.data();
}

void KrausForm::move_back(const Step& step, const double* adjoints, const double* states,
                          std::size_t count, double* const* previous, GradientTable& gradients,
                          FormScratch& scratch) const {
  scratch.images.resize(count * matrix_size());
  scratch.products.resize(rank_ * count * size());
  std::array<const double*, kStatesTogether> lefts{};
  for (std::size_t i = 0; i < count; ++i)
    lefts[i] = left_factor(step, adjoints + i * size(), scratch.images.data() + i * matrix_size());
  for (std::size_t run = 0; run < step.runs; ++run) {
    const std::size_t first = step.first + run * rank_;
    const double* turned = scaled_adjoints(step, first, scratch);
    for (std::size_t q = 0; q < rank_; ++q) {
      double* moved = scratch.products.data() + q * count * size();
      PanelProduct down = product();
      down.right = matrix(first + q);
      PanelProduct back = product();
      back.left = turned + q * matrix_size();
      back.add = run + q > 0;
      back.lower = real_;
      for (std::size_t i = 0; i < count; ++i) {
        down.left = lefts[i];
        down.out = moved + i * size();
        kernel_(down);
        back.right = down.out;
        back.out = previous[i];
        kernel_(back);
      }
      add_by_matrix(step, first + q, moved, states, count, gradients, scratch);
    }
  }
  for (std::size_t i = 0; real_ && i < count; ++i) mirror_lower(previous[i], n_, stride_);
}

/// U ρ = Σ_j u_j ρ_j† over the columns of all states.
void KrausForm::add_by_matrix(const Step& step, std::size_t block, const double* moved,
                              const double* states, std::size_t count, GradientTable& gradients,
                              FormScratch& scratch) const {
  PanelProduct sum = product();
  sum.depth = n_ * static_cast<Index>(count);
  sum.cols = rows_;
  sum.depth_step = stride_;
  sum.col_step = 1;
  sum.left = moved;
  sum.right = states;
  if (step.scale != nullptr) {
    scratch.sums.resize(matrix_size());
    sum.out = scratch.sums.data();
    kernel_(sum);
    fold(step, block, sum.out, gradients);
    return;
  }
  const OperatorGradient gradient = gradients.of(block);
  sum.out = gradient.values;
  sum.add = *gradient.used != 0;
  kernel_(sum);
  *gradient.used = 1;
}

/// Adds D·(U ρ) to what is known by V_q, and its rows times those of V_q to what is known by c.
void KrausForm::fold(const Step& step, std::size_t block, const double* sums,
                     GradientTable& gradients) const {
  double* by_matrix = started(gradients, block, matrix_size());
  const std::size_t first = by_emission(step.set);
  double* by_c = gradients.of(first).values;
  for (std::size_t entry = 0; entry < emission_entries(); ++entry)
    started(gradients, first + entry, matrix_size());
  by_c += (step.symbol - step.set * symbols_) * emission_rows();
  kernels_.fold(columns(rows_), sums, matrix(block), step.scale, by_matrix, by_c);
}

/// ∂ℓ by the entries of CᵀC: those of S times those of the channel's image.
void KrausForm::add_by_unseen(const Step& step, const double* adjoint, const double* state,
                              GradientTable& gradients, FormScratch& scratch) const {
  scratch.products.resize(size());
  double* image = scratch.products.data();
  channel(step, state, scratch, image);
  if (real_) mirror_lower(image, n_, stride_);
  double* by = started(gradients, by_unseen(step.set), matrix_size());
  for (Index j = 0; j < n_; ++j, by += stride_, image += stride_, adjoint += stride_)
    for (Index i = 0; i < rows_; ++i) by[i] += adjoint[i] * image[i];
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
  const double* gram = grams_[step_of(op).set].data();
  double sum = 0.0;
  for (Index j = 0; j < n_; ++j)
    for (Index i = 0; i < rows_; ++i) sum += gram[j * stride_ + i] * x[j * stride_ + i];
  return sum;
}

void KrausForm::write_gradient(const Hqmm& model, const GradientTable& table,
                               const std::vector<double>& initial, BatchGradient& out) const {
  const auto add_gradient = real_ ? add_real_gradient : add_complex_gradient;
  for (std::size_t set = 0; set < sets_; ++set) {
    Stack& by = out.sets.emplace_back(Stack::Zero(model.sets[set].stack().rows(), n_));
    for (std::size_t block = 0; block < blocks_; ++block) {
      const std::size_t entry = set * blocks_ + block;
      if (!table.used(entry)) continue;
      add_gradient(table.values(entry), n_, stride_, -2.0,
                   by.data() + static_cast<Index>(block) * n_ * n_);
    }
    if (on_states_) write_emission_gradient(model.sets[set], set, table, out);
  }
  if (initial.empty()) return;
  if (real_) {
    Stack s = Stack::Zero(n_, n_);
    add_real_gradient(initial.data(), n_, stride_, 1.0, s.data());
    out.initial_state = -0.5 * (s + s.transpose());
  } else {
    const Matrix s = read_columns(initial.data(), n_, stride_);
    out.initial_state = -0.5 * (s + s.adjoint());
  }
}

void KrausForm::write_emission_gradient(const KrausSet& set, std::size_t index,
                                        const GradientTable& table, BatchGradient& out) const {
  const RealMatrix& c = set.emission();
  RealMatrix& by = out.emissions.emplace_back(RealMatrix::Zero(c.rows(), n_));
  if (table.used(by_emission(index))) {
    const double* from = table.values(by_emission(index));
    for (Index y = 0; y < c.rows(); ++y, from += emission_rows())
      for (Index i = 0; i < rows_; ++i) by(y, i % n_) -= 2.0 * from[i];
  }
  if (!table.used(by_unseen(index))) return;
  RealMatrix by_products = RealMatrix::Zero(n_, n_);
  const double* from = table.values(by_unseen(index));
  for (Index j = 0; j < n_; ++j, from += stride_)
    for (Index i = 0; i < rows_; ++i) by_products(i % n_, j) += from[i];
  by -= c * (by_products + by_products.transpose());
}

}  // namespace hqmm
