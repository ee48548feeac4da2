#include "hqmm/learn/edge_baum_welch.hpp"

#include <cmath>
#include <limits>

#include "hqmm/engine/classical/edge_counts.hpp"

namespace hqmm::detail {
namespace {

/// See BaumWelch: half a count for an unseen symbol, shared by the moves as often as they happen.
void count_unseen_symbols(std::vector<RealMatrix>& edges, const RealMatrix& moves) {
  const double total = moves.sum();
  if (!(total > 0.0)) return;
  for (RealMatrix& edge : edges)
    if (edge.isZero(0.0)) edge = 0.5 / total * moves;
}

RealMatrix sum_of(const std::vector<RealMatrix>& edges) {
  RealMatrix sum = edges.front();
  for (std::size_t y = 1; y < edges.size(); ++y) sum += edges[y];
  return sum;
}

}  // namespace

EdgeBaumWelch::EdgeBaumWelch(EdgeHmm start, const SequenceSet& sequences,
                             const TrainOptions& options)
    : model_(std::move(start)),
      sequences_(sequences),
      options_(options),
      last_log_likelihood_(std::numeric_limits<double>::quiet_NaN()) {}

EpochOutcome EdgeBaumWelch::run_epoch(std::size_t /*epoch*/, const StopRequest& stop) {
  EpochOutcome outcome;
  std::optional<EdgeCounts> total =
      expected_edges(model_, sequences_, options_.threads, stop, ranks_);
  if (!total) {
    outcome.stopped = true;
    return outcome;
  }
  if (total->impossible)
    throw DivergedError({total->impossible->sequence, total->impossible->position});
  outcome.scored = total->scored;
  outcome.log_likelihood = outcome.raw_log_likelihood = total->log_likelihood;
  const double change = std::abs(total->log_likelihood - last_log_likelihood_);
  outcome.converged =
      change <= options_.tolerance * std::abs(total->log_likelihood);  // false at first: NaN
  last_log_likelihood_ = total->log_likelihood;

  count_unseen_symbols(total->edges, sum_of(total->edges));
  const RealMatrix column_sums = sum_of(total->edges).colwise().sum();
  for (std::size_t y = 0; y < model_.edges.size(); ++y) {
    for (Index j = 0; j < column_sums.cols(); ++j) {
      // A state that never was keeps its column.
      if (column_sums(j) > 0.0) model_.edges[y].col(j) = total->edges[y].col(j) / column_sums(j);
    }
  }
  if (total->initial.sum() > 0.0) model_.initial = total->initial / total->initial.sum();
  return outcome;
}

LearnerState EdgeBaumWelch::save() const {
  LearnerState state;
  for (const RealMatrix& edge : model_.edges)
    for (const double value : edge.reshaped()) state["edges"].emplace_back(value);
  for (const double value : model_.initial) state["initial"].emplace_back(value);
  state["last_log_likelihood"] = {Complex(last_log_likelihood_)};
  return state;
}

void EdgeBaumWelch::load(const LearnerState& state) {
  const std::vector<Complex>& edges = array_of(state, "edges");
  const std::vector<Complex>& initial = array_of(state, "initial");
  const std::vector<Complex>& last = array_of(state, "last_log_likelihood");
  const auto n = static_cast<std::size_t>(model_.latent_dim());
  if (edges.size() != model_.edges.size() * n * n || initial.size() != n || last.size() != 1)
    throw misfit_checkpoint();
  auto next = edges.begin();
  for (RealMatrix& edge : model_.edges)
    for (double& value : edge.reshaped()) value = (next++)->real();
  for (std::size_t i = 0; i < n; ++i) model_.initial(static_cast<Index>(i)) = initial[i].real();
  last_log_likelihood_ = last[0].real();
}

}  // namespace hqmm::detail
