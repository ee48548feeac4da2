#include "hqmm/learn/descent.hpp"

#include <algorithm>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/recipes.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/products.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

/// B of ρ₀ = BB† with `rank` columns (the leading eigenvectors), as a vector of norm one.
Stack factor_state(const Matrix& rho, Index rank) {
  const HermitianEigen eigen = hermitian_eigen(rho);
  const Index n = rho.rows();
  Stack b(n * rank, 1);
  for (Index k = 0; k < rank; ++k) {
    const Index column = n - 1 - k;  // largest first
    const double root = std::sqrt(std::max(eigen.values(column), 0.0));
    for (Index i = 0; i < n; ++i) b(i * rank + k, 0) = root * eigen.vectors(i, column);
  }
  return b / b.norm();
}

Eigen::Map<const Stack> as_factor(const Stack& b, Index rank) {
  return {b.data(), b.size() / rank, rank};
}

void flatten(const Stack& stack, std::vector<Complex>& out) {
  out.insert(out.end(), stack.data(), stack.data() + stack.size());
}

}  // namespace

DescentLearner::DescentLearner(Hqmm start, const Chunks& chunks, std::size_t burn_in,
                               const TrainOptions& options, std::size_t restart,
                               std::unique_ptr<UpdateRule> rule, CudaEngine* gpu)
    : model_(std::move(start)),
      chunks_(chunks),
      options_(options),
      restart_(restart),
      rule_(std::move(rule)) {
  if (options.initial_state == InitialStateKind::kLearned) state_rank_ = model_.latent_dim();
  if (options.initial_state == InitialStateKind::kPure) state_rank_ = 1;
  if (model_.emits_on() == EmissionKind::kState) {
    for (const KrausSet& set : model_.sets) emissions_.emplace_back(set.emission().cast<Complex>());
  }
  gradient_options_ = {burn_in, options.gradient_through_burn_in, learns_state(), options.engine};
  gradient_options_.gpu = gpu;
  if (chunks.weighted()) {
    double sum = 0.0;
    for (std::size_t i = 0; i < chunks.size(); ++i) sum += chunks.weight(i);
    mean_weight_ = sum / static_cast<double>(chunks.size());
  }
  if (learns_state()) {
    factor_ = factor_state(model_.initial_state, state_rank_);
    factor_gradient_.resize(factor_.rows(), 1);
    put_state(factor_, model_);
  }
  const bool literal =
      options.learner == LearnerKind::kNsRis && options.retraction == RetractionKind::kLiteral;
  if (options.average > 0.0 && !literal) {
    for (std::size_t i = 0; i < parameter_count(); ++i) averages_.push_back(parameter(i));
  }
}

void DescentLearner::put(std::size_t i, const Stack& value, Hqmm& model) const {
  if (is_emission(i)) {
    model.sets[i - model.sets.size()].emission() = value.real();
  } else {
    put_state(value, model);
  }
}

void DescentLearner::put_state(const Stack& b, Hqmm& model) const {
  const auto factor = as_factor(b, state_rank_);
  const Matrix rho = factor * factor.adjoint();
  model.initial_state = 0.5 * (rho + rho.adjoint()) / rho.trace().real();
}

BatchGradient DescentLearner::batch_gradient(std::span<const std::uint32_t> order) {
  batch_.clear();
  batch_.reserve(order.size());
  weights_.clear();
  for (const std::uint32_t i : order) {
    batch_.push_back(chunks_[i].symbols);
    if (chunks_.weighted()) weights_.push_back(chunks_.weight(i) / mean_weight_);
  }
  fetched_.fetch(batch_);
  gradient_options_.weights = weights_;
  gradient_options_.numbers = order;
  try {
    return gradient(model_, batch_, gradient_options_, options_.threads, scratch_);
  } catch (const NotFiniteError& error) {
    const Chunk chunk = chunks_[order[error.place().sequence]];
    throw DivergedError({chunk.sequence, chunk.begin + error.place().position});
  }
}

EpochOutcome DescentLearner::run_epoch(std::size_t epoch, const StopRequest& stop) {
  EpochOutcome outcome;
  const Steps steps{step_size_at(options_, epoch), emission_step_at(options_, epoch)};
  RandomStream random(options_.seed, Purpose::kShuffle, restart_, epoch);
  const std::vector<std::uint32_t> order = permutation(chunks_.size(), random);
  sums_.clear();
  for (std::size_t i = 0; i < model_.sets.size() + emissions_.size(); ++i)
    sums_.push_back(Stack::Zero(parameter(i).rows(), parameter(i).cols()));
  const std::size_t batches = (order.size() + options_.batch_size - 1) / options_.batch_size;
  rule_->begin_epoch();
  for (std::size_t begin = 0; begin < order.size(); begin += options_.batch_size) {
    if (stop()) {
      outcome.stopped = true;
      return outcome;
    }
    const std::size_t size = std::min(options_.batch_size, order.size() - begin);
    BatchGradient batch = batch_gradient({order.data() + begin, size});
    outcome.scored += batch.scored;
    outcome.log_likelihood += batch.log_likelihood;
    outcome.raw_log_likelihood += batch.raw_log_likelihood;
    descend(batch, size, steps, outcome);
    average_in(epoch * batches + begin / options_.batch_size);
  }
  for (std::size_t i = 0; i < sums_.size(); ++i)
    outcome.gradient_nuclear_norm += tangent_norm(i, static_cast<double>(batches));
  return outcome;
}

/// The nuclear norm of the epoch's mean gradient; of one column that is its length.
double DescentLearner::tangent_norm(std::size_t i, double batches) const {
  const Stack mean = sums_[i] / batches;
  if (!is_emission(i)) return nuclear_norm(project_tangent(parameter(i), mean));
  double sum = 0.0;
  for (Index k = 0; k < mean.cols(); ++k)
    sum += tangent_of_sphere(parameter(i).col(k).real(), mean.col(k).real()).norm();
  return sum;
}

void DescentLearner::descend(BatchGradient& batch, std::size_t size, const Steps& steps,
                             EpochOutcome& outcome) {
  const double weight = 1.0 / static_cast<double>(size);
  for (std::size_t i = 0; i < model_.sets.size(); ++i) {
    Stack& mean = batch.sets[i];
    if (size > 1) scale(weight, mean);
    blend(1.0, mean, 1.0, sums_[i]);
    outcome.halved_steps += rule_->update(i, parameter(i), mean, steps.size).halved;
  }
  for (std::size_t set = 0; set < emissions_.size(); ++set) {
    const std::size_t i = model_.sets.size() + set;
    const Stack mean = weight * batch.emissions[set].cast<Complex>();
    blend(1.0, mean, 1.0, sums_[i]);
    rule_->update_columns(i, emissions_[set], mean, steps.of_emission);
    put(i, emissions_[set], model_);
  }
  if (!learns_state()) return;
  // ρ₀ = BB†: ∂L/∂B = 2 (∂L/∂ρ₀) B
  Eigen::Map<Stack>(factor_gradient_.data(), factor_.size() / state_rank_, state_rank_).noalias() =
      2.0 * weight * batch.initial_state * as_factor(factor_, state_rank_);
  outcome.halved_steps +=
      rule_->update(parameter_count() - 1, factor_, factor_gradient_, steps.size).halved;
  // The literal retraction leaves the sphere too; a state has trace one.
  scale(1.0 / factor_.norm(), factor_);
  put_state(factor_, model_);
}

void DescentLearner::average_in(std::size_t update) {
  // A run of few updates would otherwise score a mean that is mostly its random start.
  const auto k = static_cast<double>(update);
  const double past = std::min(options_.average, (k + 1.0) / (k + 10.0));
  for (std::size_t i = 0; i < averages_.size(); ++i)
    blend(1.0 - past, parameter(i), past, averages_[i]);
}

AnyModel DescentLearner::candidate() const {
  if (averages_.empty()) return model_;
  Hqmm averaged = model_;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    if (is_emission(i)) {
      Stack mean = averages_[i];
      mean.colwise().normalize();
      if (!mean.allFinite()) return model_;
      put(i, mean, averaged);
      continue;
    }
    Retraction onto = retract(averages_[i]);
    if (!onto.converged) return model_;  // the mean lost rank: far from settled, the last Γ will do
    if (i < averaged.sets.size()) {
      averaged.sets[i].stack() = std::move(onto.gamma);
    } else {
      put(i, onto.gamma, averaged);
    }
  }
  return averaged;
}

LearnerState DescentLearner::save() const {
  LearnerState state;
  for (std::size_t i = 0; i < parameter_count(); ++i) flatten(parameter(i), state["parameters"]);
  for (const Stack& average : averages_) flatten(average, state["averages"]);
  for (const Stack& momentum : rule_->momenta()) flatten(momentum, state["momenta"]);
  return state;
}

void DescentLearner::load(const LearnerState& state) {
  const auto fill = [this](const std::vector<Complex>& flat) {
    std::vector<Stack> stacks;
    std::size_t next = 0;
    for (std::size_t i = 0; i < parameter_count(); ++i) {
      const Stack& like = parameter(i);
      if (flat.size() - next < static_cast<std::size_t>(like.size())) throw misfit_checkpoint();
      stacks.push_back(Eigen::Map<const Stack>(flat.data() + next, like.rows(), like.cols()));
      next += static_cast<std::size_t>(like.size());
    }
    if (next != flat.size()) throw misfit_checkpoint();
    return stacks;
  };
  std::vector<Stack> parameters = fill(array_of(state, "parameters"));
  std::vector<Stack> momenta = fill(array_of(state, "momenta"));
  if (!averages_.empty()) averages_ = fill(array_of(state, "averages"));
  for (std::size_t i = 0; i < parameters.size(); ++i) parameter(i) = std::move(parameters[i]);
  for (std::size_t i = model_.sets.size(); i < parameter_count(); ++i) put(i, parameter(i), model_);
  rule_->set_momenta(std::move(momenta));
}

}  // namespace hqmm::detail
