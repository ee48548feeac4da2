#include "hqmm/learn/baum_welch.hpp"

#include <cmath>
#include <limits>

#include "hqmm/engine/classical/forward_backward.hpp"

namespace hqmm::detail {
namespace {

/// A symbol that the training data never show gets half a count, shared by the states as they are
/// occupied: maximum likelihood would call it impossible, and one such symbol in other data would
/// be worth −∞.
void count_unseen_symbols(RealMatrix& emissions) {
  const RealMatrix occupancy = emissions.colwise().sum();
  const double total = occupancy.sum();
  if (!(total > 0.0)) return;
  for (Index y = 0; y < emissions.rows(); ++y) {
    if (emissions.row(y).isZero(0.0)) emissions.row(y) = 0.5 / total * occupancy;
  }
}

/// Columns scaled to sum one; a column without any count keeps what it was.
void normalise_columns(RealMatrix& counts, const RealMatrix& previous) {
  for (Index j = 0; j < counts.cols(); ++j) {
    const double sum = counts.col(j).sum();
    if (sum > 0.0 && std::isfinite(sum)) {
      counts.col(j) /= sum;
    } else {
      counts.col(j) = previous.col(j);
    }
  }
}

}  // namespace

BaumWelch::BaumWelch(Hmm start, const SequenceSet& sequences, const TrainOptions& options)
    : model_(std::move(start)),
      sequences_(sequences),
      options_(options),
      last_log_likelihood_(std::numeric_limits<double>::quiet_NaN()) {}

EpochOutcome BaumWelch::run_epoch(std::size_t /*epoch*/, const StopRequest& stop) {
  EpochOutcome outcome;
  std::optional<ExpectedCounts> counted =
      expected_counts(model_, sequences_, options_.threads, stop, ranks_);
  if (!counted) {
    outcome.stopped = true;
    return outcome;
  }
  ExpectedCounts& total = *counted;
  if (total.impossible)
    throw DivergedError({total.impossible->sequence, total.impossible->position});
  outcome.scored = total.scored;
  outcome.log_likelihood = outcome.raw_log_likelihood = total.log_likelihood;
  const double change = std::abs(total.log_likelihood - last_log_likelihood_);
  outcome.converged =
      change <= options_.tolerance * std::abs(total.log_likelihood);  // false at first: NaN
  last_log_likelihood_ = total.log_likelihood;

  RealMatrix initial = total.initial;
  count_unseen_symbols(total.emissions);
  normalise_columns(total.transitions, model_.transition);
  normalise_columns(total.emissions, model_.emission);
  normalise_columns(initial, model_.initial);
  model_.transition = std::move(total.transitions);
  model_.emission = std::move(total.emissions);
  model_.initial = initial;
  return outcome;
}

LearnerState BaumWelch::save() const {
  LearnerState state;
  const auto put = [&state](const char* name, const RealMatrix& matrix) {
    for (Index k = 0; k < matrix.size(); ++k) state[name].emplace_back(matrix.data()[k]);
  };
  put("transition", model_.transition);
  put("emission", model_.emission);
  put("initial", model_.initial);
  state["last_log_likelihood"] = {Complex(last_log_likelihood_)};
  return state;
}

void BaumWelch::load(const LearnerState& state) {
  const auto get = [&state](const char* name, auto& matrix) {
    const std::vector<Complex>& flat = array_of(state, name);
    if (static_cast<Index>(flat.size()) != matrix.size()) throw misfit_checkpoint();
    for (Index k = 0; k < matrix.size(); ++k)
      matrix.data()[k] = flat[static_cast<std::size_t>(k)].real();
  };
  get("transition", model_.transition);
  get("emission", model_.emission);
  get("initial", model_.initial);
  const std::vector<Complex>& last = array_of(state, "last_log_likelihood");
  if (last.size() != 1) throw misfit_checkpoint();
  last_log_likelihood_ = last[0].real();
}

}  // namespace hqmm::detail
