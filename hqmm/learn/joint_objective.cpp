#include "hqmm/learn/joint_objective.hpp"

#include <algorithm>
#include <cmath>

#include "hqmm/core/parallel.hpp"
#include "hqmm/engine/likelihood.hpp"
#include "hqmm/model/smoothing.hpp"
#include "hqmm/model/state_gradient.hpp"

namespace hqmm::detail {
namespace {

/// In place: values to log softmax of them.
void log_softmax(std::span<double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0.0;
  for (const double value : values) sum += std::exp(value - largest);
  const double log_sum = largest + std::log(sum);
  for (double& value : values) value -= log_sum;
}

}  // namespace

JointObjective::JointObjective(std::span<const double> priors, std::vector<double> weights,
                               double smoothing, EngineKind engine, int threads, CudaEngine* gpu)
    : class_weights_(std::move(weights)),
      smoothing_(smoothing),
      engine_(engine),
      threads_(threads),
      gpu_(gpu),
      scratch_(priors.size()) {
  for (const double prior : priors) log_priors_.push_back(std::log(prior));
}

double JointObjective::discriminate(std::span<const Hqmm> smooth, const SequenceSet& batch,
                                    std::span<const std::uint32_t> labels,
                                    std::span<Share> shares) const {
  const std::size_t classes = smooth.size();
  std::vector<std::vector<SequenceLikelihood>> likelihoods(classes);
  parallel_for(classes, jobs(), [&](std::size_t c) {
    likelihoods[c] = fast_log_likelihoods(smooth[c], batch, 0, 1, {}, gpu_);
  });
  double objective = 0.0;
  std::vector<double> posterior(classes);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::size_t c = 0; c < classes; ++c) {
      if (likelihoods[c][i].impossible_at)
        throw NotFiniteError({i, *likelihoods[c][i].impossible_at});
      posterior[c] = log_priors_[c] + likelihoods[c][i].log_likelihood;
    }
    log_softmax(posterior);
    const double weight = class_weights_[labels[i]] * batch.weight(i);
    objective += weight * posterior[labels[i]];
    for (std::size_t c = 0; c < classes; ++c) {
      shares[c].indices.push_back(i);
      shares[c].sequences.push_back(batch[i]);
      shares[c].weights.push_back(weight * ((c == labels[i] ? 1.0 : 0.0) - std::exp(posterior[c])));
    }
  }
  return objective;
}

void JointObjective::class_gradient(const Hqmm& model, const Hqmm& smooth, Share& share,
                                    std::size_t index, JointGradient& out) {
  GradientOptions options;
  options.engine = engine_;
  options.tangent_only = true;
  options.gpu = gpu_;
  options.weights = share.weights;
  BatchGradient found;
  try {
    found = detail::gradient(smooth, share.sequences, options, 1, scratch_[index]);
  } catch (const NotFiniteError& error) {
    throw NotFiniteError({share.indices[error.place().sequence], error.place().position});
  }
  share.log_likelihood = found.raw_log_likelihood;
  for (std::size_t i = 0; i < model.sets.size(); ++i) {
    const KrausSet& set = model.sets[i];
    const bool on_states = set.emits_on() == EmissionKind::kState;
    StateGradient by;
    if (found.sets.empty()) {
      by.transition = Stack::Zero(set.stack().rows(), model.latent_dim());
      if (on_states) by.emission = RealMatrix::Zero(set.alphabet_size(), model.latent_dim());
    } else if (on_states && smooth.emits_on() == EmissionKind::kEdge) {
      by = pull_back_expansion(set, pull_back_smoothing(set, found.sets[i], smoothing_));
    } else {
      by.transition = pull_back_smoothing(set, found.sets[i], smoothing_);
      if (on_states) by.emission = found.emissions[i];
    }
    out.sets[index].push_back(std::move(by.transition));
    if (on_states) out.emissions[index].push_back(std::move(by.emission));
  }
}

JointGradient JointObjective::gradient(std::span<const Hqmm> models, const SequenceSet& batch,
                                       std::span<const std::uint32_t> labels, Kind kind) {
  std::vector<Hqmm> smooth(models.size());
  parallel_for(models.size(), threads_,
               [&](std::size_t c) { smooth[c] = smoothed(models[c], smoothing_); });
  std::vector<Share> shares(models.size());
  JointGradient out;
  if (kind == Kind::kDiscriminative) {
    out.objective = discriminate(smooth, batch, labels, shares);
  } else {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Share& own = shares[labels[i]];
      own.indices.push_back(i);
      own.sequences.push_back(batch[i]);
      own.weights.push_back(class_weights_[labels[i]] * batch.weight(i));
    }
  }
  out.sets.resize(models.size());
  out.emissions.resize(models.size());
  parallel_for(models.size(), jobs(),
               [&](std::size_t c) { class_gradient(models[c], smooth[c], shares[c], c, out); });
  if (kind == Kind::kGenerative) {
    for (std::size_t c = 0; c < models.size(); ++c)
      out.objective += class_weights_[c] * shares[c].log_likelihood;
  }
  return out;
}

}  // namespace hqmm::detail
