#include "hqmm/engine/quantum/kraus_form.hpp"

#include <algorithm>
#include <array>

#include "hqmm/core/real_form.hpp"

namespace hqmm::detail {
namespace {

/// At most so many states go back together, and so many bytes of their products: they stay in the
/// cache.
constexpr std::size_t kMostTogether = 8;
constexpr std::size_t kTogetherBytes = std::size_t{256} << 10;

/// Doubles that hold another shape's leftovers are cleared: padding is multiplied along.
void resize_cleared(AlignedDoubles& doubles, std::size_t size, bool other_padding) {
  if (!other_padding && doubles.size() == size) return;
  doubles.resize(size);
  std::fill_n(doubles.data(), size, 0.0);
}

}  // namespace

void KrausForm::write(const Hqmm& model, bool feasible) {
  const bool real = model.field == Field::kReal;
  const bool other_padding = n_ != model.latent_dim() || real_ != real;
  real_ = real;
  on_states_ = model.emits_on() == EmissionKind::kState;
  n_ = model.latent_dim();
  plane_ = real ? n_ : padded_rows(n_);
  rows_ = real ? n_ : 2 * plane_;
  stride_ = column_stride(rows_);
  matrix_stride_ = real ? stride_ : column_stride(3 * plane_);
  sets_ = model.sets.size();
  symbols_ = static_cast<std::size_t>(model.alphabet_size());
  rank_ = static_cast<std::size_t>(model.kraus_rank());
  blocks_ = on_states_ ? rank_ : rank_ * symbols_;
  // the last matrix of a stack writes its padding as well
  stack_plane_ = padded_rows(static_cast<Index>(rank_) * n_ + kRowUnit);
  stack_stride_ = column_stride(3 * stack_plane_);
  for (AlignedDoubles* table : {&matrices_, &adjoints_})
    resize_cleared(*table, sets_ * blocks_ * matrix_size(), other_padding);
  resize_cleared(initial_, size(), other_padding);
  write_matrices(model);
  write_emissions(model);
  write_state(model.initial_state, initial_.data());
  grams_.clear();
  if (feasible) return;
  grams_.reserve(sets_);
  for (const KrausSet& set : model.sets)
    write_state(set.gram(), grams_.emplace_back(size()).data());
}

void KrausForm::write_matrices(const Hqmm& model) {
  double* to = matrices_.data();
  double* to_adjoint = adjoints_.data();
  for (const KrausSet& set : model.sets) {
    for (Index row = 0; row < set.stack().rows(); row += n_) {
      const Complex* k = set.stack().data() + row * n_;
      if (real_) {
        write_real_matrix(k, n_, stride_, to);
        const Stack adjoint_block = set.stack().middleRows(row, n_).adjoint();
        write_real_matrix(adjoint_block.data(), n_, stride_, to_adjoint);
      } else {
        write_planes(k, false, to);
        write_planes(k, true, to_adjoint);
      }
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
      for (Index first = 0; first < rows_; first += plane_)
        for (Index i = 0; i < n_; ++i) to[first + i] = set.emission()(y, i);
    const RealMatrix products = set.emission().transpose() * set.emission();
    for (Index j = 0; j < n_; ++j, entries += stride_)
      for (Index first = 0; first < rows_; first += plane_)
        for (Index i = 0; i < n_; ++i) entries[first + i] = products(i, j);
  }
}

void KrausForm::write_state(const Matrix& from, double* to) const {
  for (Index j = 0; j < n_; ++j, to += stride_) {
    std::fill_n(to, padded_rows(rows_), 0.0);
    for (Index i = 0; i < n_; ++i) {
      to[i] = from(i, j).real();
      if (!real_) to[plane_ + i] = from(i, j).imag();
    }
  }
}

Matrix KrausForm::read_state(const double* from) const {
  Matrix out(n_, n_);
  for (Index j = 0; j < n_; ++j, from += stride_)
    for (Index i = 0; i < n_; ++i) out(i, j) = {from[i], real_ ? 0.0 : from[plane_ + i]};
  return out;
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

/// Σ_q K_q ρ K_q†, of which little above the diagonal is right.
void KrausForm::channel(const Step& step, const double* rho, FormScratch& scratch,
                        double* out) const {
  for (std::size_t run = 0; run < step.runs; ++run) {
    const std::size_t first = step.first + run * rank_;
    if (real_) {
      real_channel(rho, first, run > 0, scratch, out);
    } else {
      complex_channel(rho, first, run > 0, scratch, out);
    }
  }
}

bool KrausForm::is_whole() const { return !real_ && plane_ <= planes_.whole; }

/// What is above the diagonal from what is below, unless it is there already. It then is what
/// products make of it: Hermitian but for rounding, which grows no faster than that of any state.
void KrausForm::mirror(double* x) const {
  if (is_whole()) return;
  if (real_) {
    mirror_lower(x, n_, stride_);
  } else {
    planes_.mirror(x, n_, stride_, plane_);
  }
}

/// Scales the entries, and gives a state its upper half.
void KrausForm::finish(const Step& step, double* x) const {
  if (step.scale != nullptr) {
    kernels_.scale_entries(columns(n_), step.scale, step.scale, !is_whole(), x);
  } else if (step.unseen != nullptr) {
    for (std::size_t i = 0; i < size(); ++i) x[i] *= step.unseen[i];
  }
  mirror(x);
}

void KrausForm::forward(std::uint32_t op, const double* states, std::size_t count,
                        double* const* next, FormScratch& scratch) const {
  const Step step = step_of(op);
  for (std::size_t i = 0; i < count; ++i) {
    channel(step, states + i * size(), scratch, next[i]);
    finish(step, next[i]);
  }
}

std::size_t KrausForm::states_together() const {
  const std::size_t products = rank_ * size() * sizeof(double);
  return std::clamp<std::size_t>(kTogetherBytes / products, 1, kMostTogether);
}

void KrausForm::backward(std::uint32_t op, const double* adjoints, const double* states,
                         std::size_t count, double* const* previous, GradientTable& gradients,
                         FormScratch& scratch) const {
  const Step step = step_of(op);
  const std::size_t most = states_together();
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t together = std::min(most, count - first);
    move_back(step, adjoints + first * size(), states + first * size(), together, previous + first,
              gradients, scratch);
  }
  if (step.unseen == nullptr) return;
  for (std::size_t i = 0; i < count; ++i)
    add_by_unseen(step, adjoints + i * size(), states + i * size(), gradients, scratch);
}

/// S D of an adjoint S, or its entries scaled.
const double* KrausForm::left_factor(const Step& step, const double* adjoint,
                                     double* buffer) const {
  if (step.scale == nullptr && step.unseen == nullptr) return adjoint;
  if (step.scale != nullptr) {
    kernels_.scale_columns(columns(n_), adjoint, step.scale, buffer);
  } else {
    for (std::size_t i = 0; i < size(); ++i) buffer[i] = adjoint[i] * step.unseen[i];
  }
  return buffer;
}

/// K_q† D of w matrices.
const double* KrausForm::scaled_adjoints(const Step& step, std::size_t first,
                                         FormScratch& scratch) const {
  if (step.scale == nullptr) return adjoint(first);
  scratch.scaled.resize(rank_ * matrix_size());
  const Columns whole{
      .rows = real_ ? padded_rows(n_) : 3 * plane_, .cols = n_, .stride = matrix_stride_};
  for (std::size_t q = 0; q < rank_; ++q)
    kernels_.scale_columns(whole, adjoint(first + q), step.scale,
                           scratch.scaled.data() + q * matrix_size());
  return scratch.scaled.data();
}

void KrausForm::move_back(const Step& step, const double* adjoints, const double* states,
                          std::size_t count, double* const* previous, GradientTable& gradients,
                          FormScratch& scratch) const {
  scratch.images.resize(count * size());
  std::array<const double*, kMostTogether> lefts{};
  for (std::size_t i = 0; i < count; ++i)
    lefts[i] = left_factor(step, adjoints + i * size(), scratch.images.data() + i * size());
  for (std::size_t run = 0; run < step.runs; ++run) {
    const StatesBack back{lefts.data(), states, count, previous, run > 0};
    if (real_) {
      real_back(step, step.first + run * rank_, back, gradients, scratch);
    } else {
      complex_back(step, step.first + run * rank_, back, gradients, scratch);
    }
  }
  for (std::size_t i = 0; i < count; ++i) mirror(previous[i]);
}

/// ∂ℓ by c of the step's symbol.
double* KrausForm::emission_gradient(const Step& step, GradientTable& gradients) const {
  const std::size_t first = by_emission(step.set);
  for (std::size_t entry = 0; entry < emission_entries(); ++entry) gradients.started(first + entry);
  return gradients.of(first).values + (step.symbol - step.set * symbols_) * emission_rows();
}

/// ∂ℓ by the entries of CᵀC: those of S times those of the channel's image.
void KrausForm::add_by_unseen(const Step& step, const double* adjoint, const double* state,
                              GradientTable& gradients, FormScratch& scratch) const {
  scratch.products.resize(size());
  double* image = scratch.products.data();
  channel(step, state, scratch, image);
  mirror(image);
  double* by = gradients.started(by_unseen(step.set));
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
  return dot_(grams_[step_of(op).set].data(), x, padded_rows(rows_), n_, stride_);
}

void KrausForm::write_gradient(const Hqmm& model, const GradientTable& table,
                               const std::vector<double>& initial, BatchGradient& out) const {
  for (std::size_t set = 0; set < sets_; ++set) {
    Stack& by = out.sets.emplace_back(Stack::Zero(model.sets[set].stack().rows(), n_));
    for (std::size_t block = 0; block < blocks_; ++block) {
      const std::size_t entry = set * blocks_ + block;
      if (!table.used(entry)) continue;
      auto rows = by.middleRows(static_cast<Index>(block) * n_, n_);
      if (real_) {
        add_real_gradient(table.values(entry), n_, stride_, -2.0, rows.data());
      } else {
        rows -= 2.0 * read_state(table.values(entry)).transpose();
      }
    }
    if (on_states_) write_emission_gradient(model.sets[set], set, table, out);
  }
  if (initial.empty()) return;
  const Matrix s = read_state(initial.data());
  out.initial_state = -0.5 * (s + s.adjoint());
}

void KrausForm::write_emission_gradient(const KrausSet& set, std::size_t index,
                                        const GradientTable& table, BatchGradient& out) const {
  const RealMatrix& c = set.emission();
  RealMatrix& by = out.emissions.emplace_back(RealMatrix::Zero(c.rows(), n_));
  if (table.used(by_emission(index))) {
    const double* from = table.values(by_emission(index));
    for (Index y = 0; y < c.rows(); ++y, from += emission_rows())
      for (Index i = 0; i < n_; ++i) by(y, i) -= 2.0 * from[i];
  }
  if (!table.used(by_unseen(index))) return;
  RealMatrix by_products = RealMatrix::Zero(n_, n_);
  const double* from = table.values(by_unseen(index));
  for (Index j = 0; j < n_; ++j, from += stride_)
    for (Index first = 0; first < rows_; first += plane_)
      for (Index i = 0; i < n_; ++i) by_products(i, j) += from[first + i];
  by -= c * (by_products + by_products.transpose());
}

}  // namespace hqmm::detail
