#include "hqmm/learn/givens.hpp"

#include <nlopt.h>

#include <array>
#include <cmath>
#include <numbers>

#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm {
namespace {

constexpr unsigned kAngles = 4;  // φ, ψ, δ, θ

void turn_rows(Stack& gamma, Index i, Index j, const double* angles) {
  const auto phase = [](double a) { return std::polar(1.0, a); };
  const double phi = angles[0], psi = angles[1], delta = angles[2], theta = angles[3];
  const Complex outer = phase(0.5 * phi);
  const double c = std::cos(theta), s = std::sin(theta);
  const Eigen::RowVectorXcd a = gamma.row(i);
  const Eigen::RowVectorXcd b = gamma.row(j);
  gamma.row(i) = outer * (phase(psi) * c * a + phase(delta) * s * b);
  gamma.row(j) = outer * (-phase(-delta) * s * a + phase(-psi) * c * b);
}

/// The search over the four angles, minimising −log-likelihood with NLopt's bounded COBYLA.
struct AngleSearch {
  std::function<double(const double*)> value;

  static double evaluate(unsigned /*size*/, const double* angles, double* /*gradient*/,
                         void* self) {
    const double value = static_cast<AngleSearch*>(self)->value(angles);
    return std::isfinite(value) ? value : 1e300;
  }

  /// Starts at zero, the turn that changes nothing; returns the best angles.
  std::array<double, kAngles> run(std::size_t evaluations) {
    std::array<double, kAngles> angles{};
    const auto destroy = [](nlopt_opt search) { nlopt_destroy(search); };
    const std::unique_ptr<nlopt_opt_s, decltype(destroy)> search(
        nlopt_create(NLOPT_LN_COBYLA, kAngles), destroy);
    nlopt_set_lower_bounds1(search.get(), -std::numbers::pi);
    nlopt_set_upper_bounds1(search.get(), std::numbers::pi);
    nlopt_set_min_objective(search.get(), &AngleSearch::evaluate, this);
    nlopt_set_initial_step1(search.get(), 0.5);
    nlopt_set_xtol_abs1(search.get(), 1e-4);
    nlopt_set_maxeval(search.get(), static_cast<int>(evaluations));
    double least = 0.0;
    if (nlopt_optimize(search.get(), angles.data(), &least) < 0) return {};
    return angles;
  }
};

}  // namespace

GivensSearch::GivensSearch(Hqmm start, const Chunks& chunks, std::size_t burn_in,
                           const TrainOptions& options, std::size_t restart)
    : model_(std::move(start)),
      chunks_(chunks),
      burn_in_(burn_in),
      options_(options),
      restart_(restart) {}

double GivensSearch::batch_log_likelihood(const Hqmm& model,
                                          const std::vector<SequenceView>& batch) const {
  HqmmFilter filter(model);
  double sum = 0.0;
  for (const SequenceView& sequence : batch)
    sum += log_likelihood(filter, sequence, burn_in_).log_likelihood;
  return sum;
}

EpochOutcome GivensSearch::run_epoch(std::size_t epoch, const StopRequest& stop) {
  EpochOutcome outcome;
  RandomStream random(options_.seed, Purpose::kSearch, restart_, epoch);
  std::vector<SequenceView> batch;
  for (std::size_t k = 0; k < options_.batch_size; ++k) {
    batch.push_back(chunks_[random.below(chunks_.size())].symbols);
  }
  double best = batch_log_likelihood(model_, batch);
  for (std::size_t pair = 0; pair < options_.givens_pairs; ++pair) {
    if (stop()) {
      outcome.stopped = true;
      return outcome;
    }
    KrausSet& set = model_.sets[random.below(model_.sets.size())];
    const auto rows = static_cast<std::uint64_t>(set.gamma().rows());
    if (rows < 2) break;
    auto i = static_cast<Index>(random.below(rows));
    auto j = static_cast<Index>(random.below(rows - 1));
    if (j >= i) ++j;
    if (j < i) std::swap(i, j);
    const Stack before = set.gamma();
    AngleSearch search{[&](const double* angles) {
      set.gamma() = before;
      turn_rows(set.gamma(), i, j, angles);
      return -batch_log_likelihood(model_, batch);
    }};
    const auto angles = search.run(options_.givens_evaluations);
    set.gamma() = before;
    turn_rows(set.gamma(), i, j, angles.data());
    const double turned = batch_log_likelihood(model_, batch);
    if (turned > best) {
      best = turned;
      if (feasibility_residual(set.gamma()) > 1e-13) {
        if (Retraction polished = retract(set.gamma()); polished.converged)
          set.gamma() = std::move(polished.gamma);
      }
    } else {
      set.gamma() = before;
    }
  }
  HqmmFilter filter(model_);
  for (const SequenceView& sequence : batch) {
    const SequenceLikelihood one = log_likelihood(filter, sequence, burn_in_);
    outcome.scored += one.scored;
    outcome.log_likelihood += one.log_likelihood;
  }
  outcome.raw_log_likelihood = outcome.log_likelihood;
  return outcome;
}

LearnerState GivensSearch::save() const {
  LearnerState state;
  for (const KrausSet& set : model_.sets) {
    auto& flat = state["parameters"];
    flat.insert(flat.end(), set.gamma().data(), set.gamma().data() + set.gamma().size());
  }
  return state;
}

void GivensSearch::load(const LearnerState& state) {
  const std::vector<Complex>& flat = array_of(state, "parameters");
  Index size = 0;
  for (const KrausSet& set : model_.sets) size += set.gamma().size();
  if (size != static_cast<Index>(flat.size())) throw misfit_checkpoint();
  const Complex* next = flat.data();
  for (KrausSet& set : model_.sets) {
    set.gamma() = Eigen::Map<const Stack>(next, set.gamma().rows(), set.gamma().cols());
    next += set.gamma().size();
  }
}

}  // namespace hqmm
