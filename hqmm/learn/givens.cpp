#include "hqmm/learn/givens.hpp"

#include <nlopt.h>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <tuple>

#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

constexpr unsigned kMostAngles = 4;  // φ, ψ, δ, θ
using Angles = std::array<double, kMostAngles>;

void turn_rows(Stack& gamma, Index i, Index j, const Angles& angles) {
  const auto phase = [](double a) { return std::polar(1.0, a); };
  const auto [phi, psi, delta, theta] = angles;
  const Complex outer = phase(0.5 * phi);
  const double c = std::cos(theta), s = std::sin(theta);
  const Eigen::RowVectorXcd a = gamma.row(i);
  const Eigen::RowVectorXcd b = gamma.row(j);
  gamma.row(i) = outer * (phase(psi) * c * a + phase(delta) * s * b);
  gamma.row(j) = outer * (-phase(-delta) * s * a + phase(-psi) * c * b);
}

/// What a turn acts on: two rows of Γ or V, or two entries of a column of C. Real numbers are
/// turned by θ alone.
struct Turn {
  KrausSet* set;
  Index i, j;
  Index column = -1;  // of C; −1: rows of the stack
  unsigned angles = kMostAngles;

  void apply(const KrausSet& before, const double* found) const {
    Angles all{};
    if (angles == 1) {
      all[3] = found[0];
    } else {
      std::copy_n(found, kMostAngles, all.begin());
    }
    if (column < 0) {
      set->stack() = before.stack();
      turn_rows(set->stack(), i, j, all);
      return;
    }
    RealMatrix& c = set->emission();
    c = before.emission();
    const double a = c(i, column), b = c(j, column);
    c(i, column) = std::cos(all[3]) * a + std::sin(all[3]) * b;
    c(j, column) = std::cos(all[3]) * b - std::sin(all[3]) * a;
  }
};

/// Two different numbers below `count`, the smaller first.
std::pair<Index, Index> draw_pair(std::uint64_t count, RandomStream& random) {
  auto i = static_cast<Index>(random.below(count));
  auto j = static_cast<Index>(random.below(count - 1));
  if (j >= i) ++j;
  return std::minmax(i, j);
}

/// Nothing when there are no two rows to turn.
std::optional<Turn> draw_turn(Hqmm& model, RandomStream& random) {
  KrausSet& set = model.sets[random.below(model.sets.size())];
  const bool on_states = set.emits_on() == EmissionKind::kState;
  Turn turn{&set, 0, 0, -1, model.field == Field::kReal ? 1 : kMostAngles};
  auto rows = static_cast<std::uint64_t>(set.stack().rows());
  if (on_states && set.alphabet_size() > 1 && (rows < 2 || random.below(2) == 0)) {
    turn.column = static_cast<Index>(random.below(static_cast<std::uint64_t>(set.latent_dim())));
    turn.angles = 1;
    rows = static_cast<std::uint64_t>(set.alphabet_size());
  }
  if (rows < 2) return {};
  std::tie(turn.i, turn.j) = draw_pair(rows, random);
  return turn;
}

/// Rounding of many turns.
void polish(KrausSet& set) {
  if (set.emits_on() == EmissionKind::kState) set.emission().colwise().normalize();
  if (feasibility_residual(set.stack()) <= 1e-13) return;
  if (Retraction polished = retract(set.stack()); polished.converged)
    set.stack() = std::move(polished.gamma);
}

/// The search over the angles, minimising −log-likelihood with NLopt's bounded COBYLA.
struct AngleSearch {
  std::function<double(const double*)> value;

  static double evaluate(unsigned /*size*/, const double* angles, double* /*gradient*/,
                         void* self) {
    const double value = static_cast<AngleSearch*>(self)->value(angles);
    return std::isfinite(value) ? value : 1e300;
  }

  /// Starts at zero, the turn that changes nothing; returns the best angles.
  Angles run(unsigned count, std::size_t evaluations) {
    Angles angles{};
    const auto destroy = [](nlopt_opt search) { nlopt_destroy(search); };
    const std::unique_ptr<nlopt_opt_s, decltype(destroy)> search(
        nlopt_create(NLOPT_LN_COBYLA, count), destroy);
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
                                          const std::vector<std::size_t>& batch) const {
  HqmmFilter filter(model);
  double sum = 0.0;
  for (const std::size_t i : batch)
    sum += chunks_.weight(i) * log_likelihood(filter, chunks_[i].symbols, burn_in_).log_likelihood;
  return sum;
}

EpochOutcome GivensSearch::run_epoch(std::size_t epoch, const StopRequest& stop) {
  EpochOutcome outcome;
  RandomStream random(options_.seed, Purpose::kSearch, restart_, epoch);
  std::vector<std::size_t> batch;
  for (std::size_t k = 0; k < options_.batch_size; ++k)
    batch.push_back(random.below(chunks_.size()));
  double best = batch_log_likelihood(model_, batch);
  for (std::size_t pair = 0; pair < options_.givens_pairs; ++pair) {
    if (stop()) {
      outcome.stopped = true;
      return outcome;
    }
    const std::optional<Turn> turn = draw_turn(model_, random);
    if (!turn) break;
    const KrausSet before = *turn->set;
    AngleSearch search{[&](const double* angles) {
      turn->apply(before, angles);
      return -batch_log_likelihood(model_, batch);
    }};
    const Angles angles = search.run(turn->angles, options_.givens_evaluations);
    turn->apply(before, angles.data());
    const double turned = batch_log_likelihood(model_, batch);
    if (turned > best) {
      best = turned;
      polish(*turn->set);
    } else {
      *turn->set = before;
    }
  }
  HqmmFilter filter(model_);
  for (const std::size_t i : batch) {
    const SequenceLikelihood one = log_likelihood(filter, chunks_[i].symbols, burn_in_);
    outcome.scored += one.scored;
    outcome.log_likelihood += one.log_likelihood;
  }
  outcome.raw_log_likelihood = outcome.log_likelihood;
  return outcome;
}

LearnerState GivensSearch::save() const {
  LearnerState state;
  auto& flat = state["parameters"];
  for (const KrausSet& set : model_.sets) {
    flat.insert(flat.end(), set.stack().data(), set.stack().data() + set.stack().size());
    if (set.emits_on() == EmissionKind::kEdge) continue;
    const RealMatrix& c = set.emission();
    flat.insert(flat.end(), c.data(), c.data() + c.size());
  }
  return state;
}

void GivensSearch::load(const LearnerState& state) {
  const std::vector<Complex>& flat = array_of(state, "parameters");
  Index size = 0;
  for (const KrausSet& set : model_.sets) {
    size += set.stack().size();
    if (set.emits_on() == EmissionKind::kState) size += set.emission().size();
  }
  if (size != static_cast<Index>(flat.size())) throw misfit_checkpoint();
  const Complex* next = flat.data();
  for (KrausSet& set : model_.sets) {
    set.stack() = Eigen::Map<const Stack>(next, set.stack().rows(), set.stack().cols());
    next += set.stack().size();
    if (set.emits_on() == EmissionKind::kEdge) continue;
    RealMatrix& c = set.emission();
    for (Index k = 0; k < c.size(); ++k) c.data()[k] = (next++)->real();
  }
}

}  // namespace hqmm::detail
