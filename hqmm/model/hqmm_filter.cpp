#include <cassert>
#include <cmath>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/core/real_form.hpp"
#include "hqmm/data/symbol_sets.hpp"
#include "hqmm/model/filter.hpp"
#include "hqmm/model/normalise.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr double kFewDigitsBelow = 1e-280;  // products near the least double lose their digits
constexpr double kEnlarged = 0x1p+600;      // a power of two: nothing else changes

/// Throws when there is nothing to divide by, which a valid HMM and a trace-preserving HQMM
/// exclude.
void require_weight(double weight, std::size_t t) {
  if (weight > 0.0 && std::isfinite(weight)) return;
  throw fail(ErrorCode::kBadData,
             "the model gives the symbols at position {} a total weight of {:.3g}: "
             "its operators {} the state",
             t, weight, weight > 0.0 ? "blow up" : "annihilate");
}

}  // namespace

struct HqmmFilter::Tables {
  explicit Tables(const Hqmm& model);

  [[nodiscard]] const double* matrix(std::uint32_t set, Index block) const {
    return matrices[set].data() + block * 2 * n * stride;
  }
  [[nodiscard]] std::size_t state_size() const { return static_cast<std::size_t>(n * stride); }

  PanelKernel kernel = panel_kernel();
  Index n, stride, symbols;
  PanelKernel square;  // of products with n columns
  bool feasible;
  std::vector<AlignedDoubles> matrices;       // [set]: the real form of every K, or of every V
  std::vector<AlignedDoubles> effects;        // [set]: column k holds entry k of E_y for every y
  std::vector<std::vector<double>> heaviest;  // [set][y] = tr E_y, which no weight exceeds
  std::vector<AlignedDoubles> grams;          // [set]: Σ_y E_y
  std::vector<RealMatrix> factors;            // [set]: CᵀC, on states
};

HqmmFilter::Tables::Tables(const Hqmm& model)
    : n(model.latent_dim()),
      stride(column_stride(2 * n)),
      symbols(model.alphabet_size()),
      square(panel_kernel_for(padded_rows(2 * n), n)),
      feasible(is_feasible(model)) {
  const Index effect_stride = column_stride(symbols);
  for (const KrausSet& set : model.sets) {
    AlignedDoubles& real =
        matrices.emplace_back(static_cast<std::size_t>(set.stack().rows() / n * 2 * n * stride));
    std::fill_n(real.data(), real.size(), 0.0);
    for (Index row = 0; row < set.stack().rows(); row += n)
      write_real_form(set.stack().data() + row * n, n, stride, real.data() + row * 2 * stride);
    AlignedDoubles& effect =
        effects.emplace_back(state_size() * static_cast<std::size_t>(effect_stride));
    std::fill_n(effect.data(), effect.size(), 0.0);
    std::vector<double>& traces = heaviest.emplace_back();
    AlignedDoubles column(state_size());
    std::fill_n(column.data(), column.size(), 0.0);
    for (Index y = 0; y < symbols; ++y) {
      const Matrix e = set.effect(y);
      traces.push_back(e.trace().real());
      write_columns(e, stride, column.data());
      for (std::size_t k = 0; k < column.size(); ++k)
        effect[k * static_cast<std::size_t>(effect_stride) + static_cast<std::size_t>(y)] =
            column[k];
    }
    AlignedDoubles& gram = grams.emplace_back(column);
    write_columns(set.gram(), stride, gram.data());
    factors.emplace_back();
    if (set.emits_on() == EmissionKind::kState)
      factors.back() = set.emission().transpose() * set.emission();
  }
}

HqmmFilter::HqmmFilter(const Hqmm& model)
    : model_(&model),
      tables_(std::make_shared<const Tables>(model)),
      rho_(tables_->state_size()),
      next_(tables_->state_size()),
      moved_(2 * tables_->state_size()) {
  std::fill_n(next_.data(), next_.size(), 0.0);
  set_state(model.initial_state);
}

Matrix HqmmFilter::state() const { return read_columns(rho_.data(), tables_->n, tables_->stride); }

void HqmmFilter::set_state(const Matrix& rho) {
  std::fill_n(rho_.data(), rho_.size(), 0.0);
  write_columns(rho, tables_->stride, rho_.data());
}

void HqmmFilter::restart(std::size_t length) {
  if (length == kUnknownLength && !model_->positions.stationary() &&
      model_->positions.anchor() == PositionMap::Anchor::kEnd) {
    throw fail(
        ErrorCode::kUsage,
        "this model counts positions from the end of a sequence: it cannot follow a live stream");
  }
  length_ = length;
  t_ = 0;
  set_state(model_->initial_state);
}

double HqmmFilter::apply(std::uint32_t set, Symbol symbol) {
  const Index n = tables_->n;
  const Index stride = tables_->stride;
  const bool on_states = model_->emits_on() == EmissionKind::kState;
  const Index w = model_->kraus_rank();
  bool add = false;
  const auto add_blocks = [&](Index first, Index count) {
    for (Index q = first; q < first + count; ++q, add = true)
      conjugate(tables_->square, tables_->matrix(set, q), rho_.data(), n, stride, moved_.data(),
                add, next_.data());
  };
  if (on_states) {
    add_blocks(0, w);
    scale_next(set, symbol);
  } else if (symbol == kMissing) {
    add_blocks(0, tables_->symbols * w);
  } else {
    for (const Symbol y : members(alphabet_size(), symbol)) add_blocks(y * w, w);
  }
  double trace = 0.0;
  for (Index i = 0; i < n; ++i) trace += next_[static_cast<std::size_t>(i * stride + i)];
  return trace;
}

/// D_y σ D_y, or the sum of them over y.
void HqmmFilter::scale_next(std::uint32_t set, Symbol symbol) {
  const Index n = tables_->n;
  const RealMatrix& emission = model_->sets[set].emission();
  const SymbolMembers seen =
      symbol == kMissing ? SymbolMembers() : members(alphabet_size(), symbol);
  double* column = next_.data();
  for (Index j = 0; j < n; ++j, column += tables_->stride) {
    for (Index i = 0; i < n; ++i) {
      double factor = seen.empty() ? tables_->factors[set](i, j) : 0.0;
      for (const Symbol y : seen) factor += emission(y, i) * emission(y, j);
      column[i] *= factor;
      column[n + i] *= factor;
    }
  }
}

/// The same of an enlarged ρ, for weights that would have few digits left or none.
double HqmmFilter::apply_enlarged(std::uint32_t set, Symbol symbol) {
  for (double& entry : rho_) entry *= kEnlarged;
  const double trace = apply(set, symbol);
  for (double& entry : rho_) entry /= kEnlarged;
  return trace;
}

/// Is `next`, of trace `weight`, no longer a state up to scale? ρ is known to about 1e-16, so a
/// symbol that all but contradicts the past leaves nothing but rounding, and that can have negative
/// probabilities. `heaviest` bounds the weight that any state gives the symbol. The eigenvalues are
/// for the rare case.
bool HqmmFilter::lost_in_rounding(double weight, double heaviest) const {
  const double* next = next_.data();
  double squared_norm = 0.0;
  for (Index j = 0; j < tables_->n; ++j, next += tables_->stride)
    for (Index i = 0; i < 2 * tables_->n; ++i) squared_norm += next[i] * next[i];
  const bool suspect = weight < 1e-10 * heaviest || squared_norm > (1.0 + 1e-6) * weight * weight;
  if (!suspect) return false;
  const Matrix scaled = read_columns(next_.data(), tables_->n, tables_->stride) / weight;
  return hermitian_eigenvalues(scaled)(0) < -0.01;
}

StepWeight HqmmFilter::step(Symbol symbol) {
  const std::uint32_t set = current_set();
  StepWeight weight;
  double trace = 0.0;
  bool unseen = symbol == kMissing;
  if (!unseen) {
    assert(!members(alphabet_size(), symbol).empty());
    if (!tables_->feasible) {
      const double* gram = tables_->grams[set].data();
      weight.total = 0.0;
      for (std::size_t k = 0; k < rho_.size(); ++k) weight.total += gram[k] * rho_[k];
    }
    trace = weight.raw = apply(set, symbol);
    double heaviest = 0.0;
    for (const Symbol y : members(alphabet_size(), symbol)) heaviest += tables_->heaviest[set][y];
    if (trace < kFewDigitsBelow && heaviest > 0.0) {
      trace = apply_enlarged(set, symbol);
      weight.raw = trace / kEnlarged;
      heaviest *= kEnlarged;
    }
    if (!(weight.raw > 0.0) || lost_in_rounding(trace, heaviest)) {
      weight.raw = 0.0;
      unseen = true;
    }
  }
  if (unseen) trace = apply(set, kMissing);
  require_weight(trace, t_);
  const double scale = 1.0 / trace;
  for (std::size_t k = 0; k < rho_.size(); ++k) rho_[k] = next_[k] * scale;
  ++t_;
  return weight;
}

void HqmmFilter::next_distribution(std::span<double> out) const {
  // tr(E_y ρ) for every y: entries of E_y by entries of ρ
  PanelProduct product{
      .rows = padded_rows(tables_->symbols), .depth = static_cast<Index>(rho_.size()), .cols = 1};
  product.left = tables_->effects[current_set()].data();
  product.left_stride = column_stride(tables_->symbols);
  product.right = rho_.data();
  AlignedDoubles weights(static_cast<std::size_t>(product.rows));
  product.out = weights.data();
  tables_->kernel(product);
  std::copy_n(weights.data(), out.size(), out.data());
  require_weight(normalise(out), t_);
}

}  // namespace hqmm
