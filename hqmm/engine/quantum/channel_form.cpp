#include "hqmm/engine/quantum/channel_form.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {
namespace {

/// Factors below this are not divided by.
constexpr double kSmallestFactor = 1e-100;

bool divides(double factor) { return std::abs(factor) >= kSmallestFactor; }

}  // namespace

void ChannelForm::write(const Hqmm& model, bool feasible, SymbolScratch& scratch) {
  real_ = model.field == Field::kReal;
  n_ = model.latent_dim();
  StateChannel channel(n_, model.kraus_rank(), real_, scratch);
  rows_ = channel.rows();
  stride_ = channel.stride();
  sets_ = model.sets.size();
  symbols_ = static_cast<std::size_t>(model.alphabet_size());
  forward_.assign(sets_ * matrix_size(), 0.0);
  backward_.assign(sets_ * matrix_size(), 0.0);
  factors_.assign(sets_ * (symbols_ + 1) * static_cast<std::size_t>(stride_), 0.0);
  keys_.resize(sets_ * (symbols_ + 1));
  small_.resize(keys_.size());
  totals_.clear();
  totals_.reserve(sets_);
  const auto write_factors = [&](std::size_t op, std::size_t set, const RealVector& from) {
    keys_[op] = static_cast<std::uint32_t>(set);
    small_[op] = std::all_of(from.begin(), from.end(), divides) ? 0 : 1;
    std::copy_n(from.data(), rows_, factors_.data() + op * static_cast<std::size_t>(stride_));
  };
  for (std::size_t set = 0; set < sets_; ++set) {
    channel.load(model.sets[set]);
    double* to = forward_.data() + set * matrix_size();
    double* transposed = backward_.data() + set * matrix_size();
    std::copy_n(channel.matrix(), matrix_size(), to);
    for (Index j = 0; j < rows_; ++j)
      for (Index i = 0; i < rows_; ++i) transposed[i * stride_ + j] = to[j * stride_ + i];
    for (std::size_t y = 0; y < symbols_; ++y)
      write_factors(set * symbols_ + y, set, channel.factors(static_cast<Index>(y)));
    write_factors(sets_ * symbols_ + set, set, channel.unseen_factors());
    if (!feasible) totals_.push_back(to_coordinates(model.sets[set].gram()).head(rows_));
  }
  initial_.assign(static_cast<std::size_t>(stride_), 0.0);
  const RealVector start = to_coordinates(model.initial_state);
  std::copy_n(start.data(), rows_, initial_.data());
}

void ChannelForm::copy_initial(double* x) const {
  std::copy_n(initial_.data(), initial_.size(), x);
}

void ChannelForm::apply(const double* matrices, std::uint32_t set, const double* states,
                        std::size_t count, double* const* next) const {
  PanelProduct product{.rows = padded_rows(rows_), .depth = rows_};
  product.cols = static_cast<Index>(count);
  product.left = matrices + set * matrix_size();
  product.left_stride = product.col_step = product.out_stride = stride_;
  product.right = states;
  product.scatter = next;
  kernel_(product);
}

void ChannelForm::forward(const std::uint32_t* ops, const double* states, std::size_t count,
                          double* const* next, FormScratch& /*scratch*/) const {
  apply(forward_.data(), keys_[ops[0]], states, count, next);
  for (std::size_t i = 0; i < count; ++i) {
    const double* e = factors(ops[i]);
    double* x = next[i];
    for (Index k = 0; k < rows_; ++k) x[k] *= e[k];
  }
}

/// Entry `row` of C x.
double ChannelForm::image_at(std::uint32_t set, Index row, const double* state) const {
  const double* c = backward_.data() + set * matrix_size() + row * stride_;
  double sum = 0.0;
  for (Index k = 0; k < rows_; ++k) sum += c[k] * state[k];
  return sum;
}

/// Where factors are too small to divide by, the image itself instead of the image times the
/// factor.
void ChannelForm::add_small(std::uint32_t op, const double* z, const double* image, double unscaled,
                            const double* state, double* by) const {
  const double* e = factors(op);
  for (Index k = 0; k < rows_; ++k) {
    if (divides(e[k])) continue;
    by[k] += z[k] * (image_at(keys_[op], k, state) - image[k] * unscaled);
  }
}

void ChannelForm::backward(const SharedStep& step, double* const* previous,
                           GradientTable& gradients, FormScratch& /*scratch*/) const {
  const std::uint32_t set = keys_[step.ops[0]];
  double* by_factors = gradients.of(sets_).values;
  for (std::size_t entry = 0; entry < factor_entries(); ++entry) {
    const OperatorGradient gradient = gradients.of(sets_ + entry);
    if (*gradient.used == 0) std::fill_n(gradient.values, matrix_size(), 0.0);
    *gradient.used = 1;
  }
  for (std::size_t i = 0; i < step.count; ++i) {
    const double* e = factors(step.ops[i]);
    const double* x = step.states + i * static_cast<std::size_t>(stride_);
    double* z = step.adjoints + i * static_cast<std::size_t>(stride_);
    double* by = by_factors + step.ops[i] * static_cast<std::size_t>(stride_);
    const double unscaled = 1.0 / step.scales[i];
    const double* image = step.images[i];
    for (Index k = 0; k < rows_; ++k) by[k] += z[k] * (image[k] * unscaled);
    if (small_[step.ops[i]] != 0) add_small(step.ops[i], z, image, unscaled, x, by);
    for (Index k = 0; k < rows_; ++k) z[k] *= e[k];
  }
  apply(backward_.data(), set, step.adjoints, step.count, previous);
}

void ChannelForm::accumulate(std::uint32_t set, const double* adjoints, const double* states,
                             std::size_t count, GradientTable& gradients) const {
  add_outer_products(kernel_, {rows_, stride_, static_cast<Index>(count)}, adjoints, states,
                     gradients.of(set));
}

double ChannelForm::weight(const double* x) const {
  double sum = 0.0;
  for (Index i = 0; i < n_; ++i) sum += x[i];
  return sum;
}

void ChannelForm::add_slope(const double* x, double c, double* z) const {
  const double factor = c / weight(x);
  for (Index i = 0; i < n_; ++i) z[i] += factor;
}

double ChannelForm::total(std::uint32_t op, const double* x, FormScratch& /*scratch*/) const {
  return totals_[keys_[op]].dot(Eigen::Map<const RealVector>(x, rows_));  // tr(Γ†Γ ρ)
}

/// ∂ℓ by the factors of an operator; what was divided by them had not been until here.
RealVector ChannelForm::by_factors(std::size_t op, const GradientTable& table) const {
  const double* from = table.values(sets_) + op * static_cast<std::size_t>(stride_);
  const double* e = factors(op);
  RealVector out(rows_);
  for (Index k = 0; k < rows_; ++k) out(k) = divides(e[k]) ? from[k] / e[k] : from[k];
  return out;
}

void ChannelForm::write_gradient(const Hqmm& model, const GradientTable& table,
                                 const std::vector<double>& initial, SymbolScratch& scratch,
                                 BatchGradient& out) const {
  StateChannel channel(n_, model.kraus_rank(), real_, scratch);
  for (std::size_t set = 0; set < sets_; ++set) {
    const KrausSet& from = model.sets[set];
    Stack& by_v = out.sets.emplace_back(Stack::Zero(from.stack().rows(), n_));
    RealMatrix& by_c = out.emissions.emplace_back(RealMatrix::Zero(from.alphabet_size(), n_));
    if (!table.used(set)) continue;
    channel.load(from);
    channel.add_by_matrix(table.values(set), by_v);
    const RealVector unseen = by_factors(sets_ * symbols_ + set, table);
    for (std::size_t y = 0; y < symbols_; ++y) {
      channel.add_by_factors(static_cast<Index>(y), by_factors(set * symbols_ + y, table) + unseen,
                             by_c);
    }
  }
  if (initial.empty()) return;
  RealVector coordinates = RealVector::Zero(n_ * n_);
  coordinates.head(rows_) = Eigen::Map<const RealVector>(initial.data(), rows_);
  out.initial_state = -from_coordinates(coordinates);
}

}  // namespace hqmm::detail
