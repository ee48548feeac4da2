#include "hqmm/learn/baum_welch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/parallel.hpp"

namespace hqmm {
namespace {

/// Filtered distributions are kept for one block of symbols at a time and recomputed from the
/// distribution at its start, so a sequence of any length needs little memory.
constexpr std::size_t kBlock = 4096;

struct Counts {
  std::uint64_t scored = 0;
  double log_likelihood = 0.0;
  RealMatrix transitions;  // n × n, [to, from]
  RealMatrix emissions;    // s × n
  RealVector initial;      // n
  std::optional<std::size_t> impossible_at;

  Counts& operator+=(const Counts& other) {
    if (transitions.size() == 0) return *this = other;
    scored += other.scored;
    log_likelihood += other.log_likelihood;
    transitions += other.transitions;
    emissions += other.emissions;
    initial += other.initial;
    return *this;
  }
};

class ExpectationPass {
 public:
  ExpectationPass(const Hmm& model, const SequenceView& sequence)
      : model_(model), sequence_(sequence) {
    const Index n = model.latent_dim();
    out_.transitions = RealMatrix::Zero(n, n);
    out_.emissions = RealMatrix::Zero(model.alphabet_size(), n);
    out_.initial = RealVector::Zero(n);
    rows_ = model.emission.transpose();
  }

  Counts run() {
    if (!forward()) return std::move(out_);
    backward();
    return std::move(out_);
  }

 private:
  /// x ← diag(C_y) A x, scaled to sum one; returns the scale P(y | past).
  double advance(std::size_t t, const RealVector& from, RealVector& to) const {
    to.noalias() = model_.transition * from;
    if (sequence_[t] != kMissing) to.array() *= rows_.col(sequence_[t]).array();
    const double weight = to.sum();
    to /= weight;
    return weight;
  }

  bool forward() {
    RealVector x = model_.initial;
    RealVector next(x.size());
    for (std::size_t t = 0; t < sequence_.size(); ++t) {
      if (t % kBlock == 0) starts_.push_back(x);
      const double weight = advance(t, x, next);
      if (!(weight > 0.0) || !std::isfinite(weight)) {
        out_.impossible_at = t;
        return false;
      }
      if (sequence_[t] != kMissing) {
        ++out_.scored;
        out_.log_likelihood += std::log(weight);
      }
      x.swap(next);
    }
    return true;
  }

  void backward() {
    const Index n = model_.latent_dim();
    RealVector beta = RealVector::Ones(n);  // P(later symbols | state), scaled
    RealMatrix filtered(n, static_cast<Index>(std::min(kBlock, sequence_.size())) + 1);
    std::vector<double> weights(kBlock);
    RealVector next(n);
    RealVector carried(n);
    for (std::size_t block = starts_.size(); block-- > 0;) {
      const std::size_t begin = block * kBlock;
      const std::size_t size = std::min(kBlock, sequence_.size() - begin);
      filtered.col(0) = starts_[block];
      for (std::size_t k = 0; k < size; ++k) {
        weights[k] = advance(begin + k, filtered.col(static_cast<Index>(k)), next);
        filtered.col(static_cast<Index>(k) + 1) = next;
      }
      for (std::size_t k = size; k-- > 0;) {
        const Symbol symbol = sequence_[begin + k];
        const auto now = filtered.col(static_cast<Index>(k) + 1);
        if (symbol != kMissing) {
          out_.emissions.row(symbol) += (now.array() * beta.array()).matrix().transpose();
          carried = rows_.col(symbol).array() * beta.array() / weights[k];
        } else {
          carried = beta / weights[k];
        }
        // ξ_ij = A_ij · carried_i · x_j, summed over t; A is multiplied in once at the end
        out_.transitions.noalias() += carried * filtered.col(static_cast<Index>(k)).transpose();
        beta.noalias() = model_.transition.transpose() * carried;
      }
    }
    out_.transitions.array() *= model_.transition.array();
    out_.initial = model_.initial.array() * beta.array();
  }

  const Hmm& model_;
  const SequenceView& sequence_;
  RealMatrix rows_;  // n × s: emission rows as contiguous columns
  std::vector<RealVector> starts_;
  Counts out_;
};

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
  // A fixed number of sequences per block bounds the work space of many short sequences.
  constexpr std::size_t kSequencesPerBlock = 64;
  Counts total;
  for (std::size_t begin = 0; begin < sequences_.size(); begin += kSequencesPerBlock) {
    if (stop()) {
      outcome.stopped = true;
      return outcome;
    }
    const std::size_t size = std::min(kSequencesPerBlock, sequences_.size() - begin);
    total += parallel_reduce(
        size, options_.threads, Counts{},
        [&](std::size_t i) {
          Counts counts = ExpectationPass(model_, sequences_[begin + i]).run();
          if (counts.impossible_at) throw DivergedError({begin + i, *counts.impossible_at});
          return counts;
        },
        [](Counts a, const Counts& b) {
          a += b;
          return a;
        });
  }
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

}  // namespace hqmm
