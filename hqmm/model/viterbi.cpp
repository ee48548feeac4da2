#include "hqmm/model/viterbi.hpp"

#include <algorithm>
#include <limits>

#include "hqmm/core/interruption.hpp"
#include "hqmm/data/symbol_sets.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr std::size_t kStepsKept = 4096;  // steps whose choices are kept; the others are made again
constexpr double kNever = -std::numeric_limits<double>::infinity();

using Choices = Eigen::Matrix<std::uint32_t, Eigen::Dynamic, Eigen::Dynamic>;

/// log δ'(i) = max_j (log M_ij + log δ(j)), for M of a step whose symbol is not looked at.
struct LogSteps {
  explicit LogSteps(const RealMatrix& step) : moves(step.transpose().array().log()) {}

  RealMatrix moves;  // log M_ij at (j, i): what one state is reached by lies together

  void advance(const RealVector& from, RealVector& to, std::uint32_t* choice) const {
    for (Index i = 0; i < moves.cols(); ++i) {
      Index best = 0;
      double most = kNever;
      for (Index j = 0; j < moves.rows(); ++j) {
        const double here = moves(j, i) + from(j);
        if (here > most) {
          most = here;
          best = j;
        }
      }
      to(i) = most;
      choice[i] = static_cast<std::uint32_t>(best);
    }
  }
};

/// Symbols and sets.
std::size_t numbers(std::size_t alphabet_size) {
  return alphabet_size + set_letters(alphabet_size).size();
}

/// An HMM that emits in its states: one matrix of moves, and what the symbol adds.
class StateSteps {
 public:
  explicit StateSteps(const Hmm& model)
      : initial_(model.transition * model.initial),
        moves_(model.transition),
        emission_(RealMatrix::Zero(model.latent_dim(),
                                   static_cast<Index>(numbers(model.alphabet.size())))) {
    for (Index number = 0; number < emission_.cols(); ++number)
      for (const Symbol y : members(model.alphabet.size(), static_cast<Symbol>(number)))
        emission_.col(number) += model.emission.row(y).transpose();
    emission_ = emission_.array().log();
  }

  /// Of the first state: P(z₁, y₁).
  void begin(Symbol symbol, RealVector& to) const {
    to = initial_.array().log();
    if (symbol != kMissing) to += emission_.col(symbol);
  }
  void advance(Symbol symbol, const RealVector& from, RealVector& to, std::uint32_t* choice) const {
    moves_.advance(from, to, choice);
    if (symbol != kMissing) to += emission_.col(symbol);
  }

 private:
  RealVector initial_;
  LogSteps moves_;
  RealMatrix emission_;  // log C_yi at (i, y); then those of sets
};

/// One that emits on its edges: a matrix of moves for each symbol and set, and the sum of all.
class EdgeSteps {
 public:
  explicit EdgeSteps(const EdgeHmm& model) : model_(model) {
    for (std::size_t number = 0; number < numbers(model.edges.size()); ++number)
      steps_.emplace_back(model.seen(static_cast<Symbol>(number)));
    steps_.emplace_back(model.transition());
  }

  void begin(Symbol symbol, RealVector& to) const {
    to = (model_.seen(symbol) * model_.initial).array().log();
  }
  void advance(Symbol symbol, const RealVector& from, RealVector& to, std::uint32_t* choice) const {
    (symbol == kMissing ? steps_.back() : steps_[symbol]).advance(from, to, choice);
  }

 private:
  const EdgeHmm& model_;
  std::vector<LogSteps> steps_;
};

template <typename Steps>
class ViterbiPass {
 public:
  ViterbiPass(const Steps& steps, const SequenceView& sequence, Index n)
      : steps_(steps), sequence_(sequence), delta_(n), next_(n), choices_(n, kept(sequence)) {}

  StatePath run() {
    StatePath out;
    if (sequence_.empty()) return out;
    for (std::size_t t = 0; t < sequence_.size(); ++t) {
      if (t % kStepsKept == 0) starts_.push_back(delta_);
      out.log_probability += step(t);
    }
    out.states.resize(sequence_.size());
    Index state = 0;
    delta_.maxCoeff(&state);
    trace_back(static_cast<std::uint32_t>(state), out.states);
    return out;
  }

 private:
  static Index kept(const SequenceView& sequence) {
    return static_cast<Index>(std::min(sequence.size(), kStepsKept));
  }

  void move(std::size_t t, Symbol symbol) {
    if (t == 0) {
      steps_.begin(symbol, next_);
    } else {
      steps_.advance(symbol, delta_, next_,
                     choices_.col(static_cast<Index>(t % kStepsKept)).data());
    }
  }

  /// delta ← the best log-probability of every state after symbol t, the largest of them 0; returns
  /// what was taken off.
  double step(std::size_t t) {
    check_interruption(t);
    move(t, sequence_[t]);
    const double most = next_.maxCoeff();
    if (most > kNever) {
      delta_ = next_.array() - most;
      return most;
    }
    move(t, kMissing);  // no path can emit it
    delta_ = next_.array() - next_.maxCoeff();
    return kNever;
  }

  void trace_back(std::uint32_t state, std::vector<std::uint32_t>& states) {
    for (std::size_t block = starts_.size(); block-- > 0;) {
      const std::size_t begin = block * kStepsKept;
      const std::size_t end = std::min(begin + kStepsKept, sequence_.size());
      if (block + 1 < starts_.size()) {  // the last block's choices are still there
        delta_ = starts_[block];
        for (std::size_t t = begin; t < end; ++t) step(t);
      }
      for (std::size_t t = end; t-- > begin;) {
        states[t] = state;
        if (t > 0) state = choices_(state, static_cast<Index>(t % kStepsKept));
      }
    }
  }

  const Steps& steps_;
  const SequenceView& sequence_;
  RealVector delta_, next_;
  Choices choices_;                 // of one block: the state before, by state after and step
  std::vector<RealVector> starts_;  // delta before each block
};

}  // namespace

StatePath most_probable_path(const Hmm& model, const SequenceView& sequence) {
  const StateSteps steps(model);
  return ViterbiPass<StateSteps>(steps, sequence, model.latent_dim()).run();
}

StatePath most_probable_path(const EdgeHmm& model, const SequenceView& sequence) {
  const EdgeSteps steps(model);
  return ViterbiPass<EdgeSteps>(steps, sequence, model.latent_dim()).run();
}

}  // namespace hqmm
