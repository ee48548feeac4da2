#include "hqmm/model/retrodiction.hpp"

#include <cmath>
#include <vector>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/model/any_model.hpp"
#include "hqmm/model/filter.hpp"

namespace hqmm {
using namespace detail;
namespace {

/// Filtered states as columns, and which symbols had no probability.
template <typename Filter>
void filter_all(Filter filter, const SequenceView& sequence, StatePosteriors& out,
                std::vector<bool>& impossible) {
  filter.restart(sequence.size());
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    check_interruption(t);
    const StepWeight weight = filter.step(sequence[t]);
    out.log_likelihood += std::log(weight.raw);
    impossible[t] = !(weight.raw > 0.0);
    out.states.col(static_cast<Index>(t)) = filter.state();
  }
}

/// γ ← x ∘ Mᵀ(γ/p) with p = Mx: every fraction M_ij x_j / p_i is at most one, so nothing overflows
/// however small p is. (What the symbol adds to the step of an ordinary HMM cancels.)
void retreat(const RealMatrix& step, const Eigen::Ref<const RealVector>& x, RealVector& posterior) {
  const RealVector p = step * x;
  RealVector earlier = RealVector::Zero(x.size());
  for (Index i = 0; i < x.size(); ++i) {
    if (!(p(i) > 0.0) || !(posterior(i) > 0.0)) continue;
    for (Index j = 0; j < x.size(); ++j) earlier(j) += step(i, j) * x(j) / p(i) * posterior(i);
  }
  posterior = earlier / earlier.sum();
}

/// step_of(t): the matrix that symbol t moved the states by.
template <typename Model, typename StepOf>
StatePosteriors posteriors_by(const Model& model, const SequenceView& sequence, StepOf step_of) {
  StatePosteriors out;
  const auto length = static_cast<Index>(sequence.size());
  out.states.resize(model.latent_dim(), length);
  std::vector<bool> impossible(sequence.size());
  filter_all(make_filter(model), sequence, out, impossible);
  if (length == 0) return out;
  RealVector posterior = out.states.col(length - 1);
  for (Index t = length - 1; t > 0; --t) {
    const auto at = static_cast<std::size_t>(t);
    retreat(step_of(impossible[at] ? kMissing : sequence[at]), out.states.col(t - 1), posterior);
    out.states.col(t - 1) = posterior;
  }
  return out;
}

/// The filtered states of a sequence, and which symbols had no probability.
struct Forward {
  std::vector<Matrix> states;
  std::vector<bool> impossible;
};

Forward filter_all(const Hqmm& model, const SequenceView& sequence) {
  Forward out;
  HqmmFilter filter(model);
  filter.restart(sequence.size());
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    check_interruption(t);
    out.impossible.push_back(!(filter.step(sequence[t]).raw > 0.0));
    out.states.push_back(filter.state());
  }
  return out;
}

Matrix hermitian_part(const Matrix& matrix) { return 0.5 * (matrix + matrix.adjoint()); }

Matrix square_root_of(const Matrix& positive) {
  const HermitianEigen eigen = hermitian_eigen(positive);
  const RealVector roots = eigen.values.cwiseMax(0.0).cwiseSqrt();
  return eigen.vectors * roots.asDiagonal() * eigen.vectors.adjoint();
}

}  // namespace

StatePosteriors state_posteriors(const Hmm& model, const SequenceView& sequence) {
  return posteriors_by(model, sequence,
                       [&](Symbol) -> const RealMatrix& { return model.transition; });
}

StatePosteriors state_posteriors(const EdgeHmm& model, const SequenceView& sequence) {
  const RealMatrix total = model.transition();
  RealMatrix of_set;
  return posteriors_by(model, sequence, [&](Symbol symbol) -> const RealMatrix& {
    if (symbol == kMissing) return total;
    if (symbol < model.edges.size()) return model.edges[symbol];
    of_set = model.seen(symbol);
    return of_set;
  });
}

void retrodict(const Hqmm& model, const SequenceView& sequence,
               const std::function<void(std::size_t, const PastQuantumState&)>& each) {
  if (!is_feasible(model)) {
    throw fail(ErrorCode::kBadData,
               "a model that is not trace preserving has no smoothed states: "
               "its weights are not probabilities");
  }
  const Forward forward = filter_all(model, sequence);
  Matrix effect = Matrix::Identity(model.latent_dim(), model.latent_dim());
  for (std::size_t t = sequence.size(); t-- > 0;) {
    check_interruption(t);
    PastQuantumState pair{forward.states[t], effect};
    const double weight = effect.cwiseProduct(pair.state.transpose()).sum().real();
    if (weight > 0.0 && std::isfinite(1.0 / weight)) {
      pair.effect /= weight;
    } else {
      pair.effect.setIdentity();
    }
    each(t, pair);
    const KrausSet& set = model.sets[model.positions.set_at(t, sequence.size())];
    const Symbol seen = forward.impossible[t] ? kMissing : sequence[t];
    effect = hermitian_part(set.apply_seen_adjoint(seen, effect));
    const double trace = effect.trace().real();
    if (trace > 0.0) {
      effect /= trace;
    } else {
      effect.setIdentity();
    }
  }
}

Matrix smoothed_state(const PastQuantumState& pair) {
  const Matrix root = square_root_of(pair.effect);
  const Matrix out = hermitian_part(root * pair.state * root);
  return out / out.trace().real();
}

}  // namespace hqmm
