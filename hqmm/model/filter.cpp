#include "hqmm/model/filter.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "hqmm/core/error.hpp"

namespace hqmm {
namespace {

/// tr(E ρ) for Hermitian E and ρ, which is real.
double expectation(const Matrix& effect, const Matrix& rho) {
  return (effect.array().conjugate() * rho.array()).sum().real();
}

/// Is `next`, of trace `weight`, no longer a state up to scale? ρ is known to about 1e-16, so a
/// symbol that all but contradicts the past leaves nothing but rounding, and that can have negative
/// probabilities. `heaviest` bounds the weight that any state gives the symbol. The eigenvalues are
/// for the rare case.
bool lost_in_rounding(const Matrix& next, double weight, double heaviest) {
  const bool suspect =
      weight < 1e-10 * heaviest || next.squaredNorm() > (1.0 + 1e-6) * weight * weight;
  if (!suspect) return false;
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(next / weight, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()(0) < -0.01;
}

/// Throws when there is nothing to divide by, which a valid HMM and a trace-preserving HQMM
/// exclude.
void require_weight(double weight, std::size_t t) {
  if (weight > 0.0 && std::isfinite(weight)) return;
  throw fail(
      ErrorCode::kBadData,
      "the model gives the symbols at position {} a total weight of {:.3g}: its operators {} the "
      "state",
      t, weight, weight > 0.0 ? "blow up" : "annihilate");
}

/// Returns the sum before.
double normalise(std::span<double> weights) {
  double sum = 0.0;
  for (double& weight : weights) {
    weight = std::max(weight, 0.0);  // rounding can leave −1e-17
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return sum;
}

}  // namespace

HqmmFilter::HqmmFilter(const Hqmm& model) : model_(&model), feasible_(is_feasible(model)) {
  const Index n = model.latent_dim();
  for (const KrausSet& set : model.sets) {
    auto& effects = effects_.emplace_back();
    for (Index y = 0; y < set.alphabet_size(); ++y) effects.push_back(set.effect(y));
    grams_.push_back(set.gamma().adjoint() * set.gamma());
  }
  moved_.resize(n, n);
  next_.resize(n, n);
  rho_ = model.initial_state;
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
  rho_ = model_->initial_state;
}

void HqmmFilter::apply_total() {
  const KrausSet& set = model_->sets[current_set()];
  next_.setZero();
  for (Index block = 0; block < set.alphabet_size() * set.kraus_rank(); ++block) {
    const auto k = set.op(block / set.kraus_rank(), block % set.kraus_rank());
    moved_.noalias() = k * rho_;
    next_.noalias() += moved_ * k.adjoint();
  }
}

StepWeight HqmmFilter::step(Symbol symbol) {
  const std::uint32_t index = current_set();
  const KrausSet& set = model_->sets[index];
  StepWeight weight;
  bool unseen = symbol == kMissing;
  if (!unseen) {
    assert(symbol < alphabet_size());
    weight.total = feasible_ ? 1.0 : expectation(grams_[index], rho_);
    next_.setZero();
    for (Index q = 0; q < set.kraus_rank(); ++q) {
      const auto k = set.op(symbol, q);
      moved_.noalias() = k * rho_;
      next_.noalias() += moved_ * k.adjoint();
    }
    weight.raw = next_.trace().real();
    const double heaviest = effects_[index][symbol].trace().real();
    if (!(weight.raw > 0.0) || lost_in_rounding(next_, weight.raw, heaviest)) {
      weight.raw = 0.0;
      unseen = true;
    }
  }
  if (unseen) apply_total();
  const double trace = next_.trace().real();
  require_weight(trace, t_);
  rho_ = next_ / trace;
  ++t_;
  return weight;
}

void HqmmFilter::next_distribution(std::span<double> out) const {
  const auto& effects = effects_[current_set()];
  for (std::size_t y = 0; y < effects.size(); ++y) out[y] = expectation(effects[y], rho_);
  require_weight(normalise(out), t_);
}

HmmFilter::HmmFilter(const Hmm& model) : model_(&model) { set_state(model.initial); }

void HmmFilter::restart(std::size_t /*length*/) { set_state(model_->initial); }

void HmmFilter::set_state(const RealVector& x) {
  x_ = x;
  predicted_.noalias() = model_->transition * x_;
}

StepWeight HmmFilter::step(Symbol symbol) {
  StepWeight weight;
  if (symbol != kMissing) {
    assert(symbol < alphabet_size());
    x_ = model_->emission.row(symbol).transpose().cwiseProduct(predicted_);
    weight.raw = x_.sum();
  }
  if (symbol == kMissing || !(weight.raw > 0.0)) x_ = predicted_;
  x_ /= x_.sum();
  predicted_.noalias() = model_->transition * x_;
  return weight;
}

void HmmFilter::next_distribution(std::span<double> out) const {
  Eigen::Map<RealVector>(out.data(), static_cast<Index>(out.size())).noalias() =
      model_->emission * predicted_;
  normalise(out);
}

}  // namespace hqmm
