#include "hqmm/engine/quantum/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/parallel.hpp"
#include "hqmm/data/symbol_sets.hpp"

namespace hqmm::detail {
namespace {

/// One sequence's pass over a model; operators of a step are those of its symbol, of all in a set,
/// or simply all when it is missing.
class AdjointPass {
 public:
  AdjointPass(const Hqmm& model, const SequenceView& sequence, const GradientOptions& options,
              double weight)
      : model_(model),
        sequence_(sequence),
        options_(options),
        weight_(weight),
        feasible_(is_feasible(model)) {
    const Index n = model.latent_dim();
    for (const KrausSet& set : model.sets) {
      out_.sets.push_back(Stack::Zero(set.gamma().rows(), n));
      grams_.push_back(feasible_ ? Matrix() : Matrix(set.gamma().adjoint() * set.gamma()));
      auto& operators = operators_.emplace_back();
      for (Index row = 0; row < set.gamma().rows(); row += n) {
        operators.push_back(set.gamma().middleRows(row, n));
      }
    }
    left_.resize(n, n);
    next_.resize(n, n);
  }

  BatchGradient run() {
    forward();
    backward();
    return std::move(out_);
  }

 private:
  struct Operators {
    std::uint32_t index;        // of the set
    std::vector<Index> blocks;  // of Γ
  };

  [[nodiscard]] Operators operators_at(std::size_t t) const {
    const std::uint32_t index = model_.positions.set_at(t, sequence_.size());
    const KrausSet& set = model_.sets[index];
    const Symbol symbol = sequence_[t];
    const Index w = set.kraus_rank();
    Operators out{index, {}};
    const auto add = [&](Index y) {
      for (Index q = 0; q < w; ++q) out.blocks.push_back(y * w + q);
    };
    if (symbol == kMissing) {
      for (Index y = 0; y < set.alphabet_size(); ++y) add(y);
    } else {
      for (const Symbol y : members(static_cast<std::size_t>(set.alphabet_size()), symbol)) add(y);
    }
    return out;
  }

  [[nodiscard]] const Matrix& block(const Operators& ops, Index b) const {
    return operators_[ops.index][static_cast<std::size_t>(b)];
  }

  void forward() {
    const std::size_t length = sequence_.size();
    states_.reserve(length + 1);
    states_.push_back(model_.initial_state);
    weights_.resize(length);
    for (std::size_t t = 0; t < length; ++t) {
      const Operators ops = operators_at(t);
      next_.setZero();
      for (const Index b : ops.blocks) {
        // lazyProduct: at these sizes Eigen's blocked product spends its time on packing
        left_.noalias() = block(ops, b).lazyProduct(states_[t]);
        next_.noalias() += left_.lazyProduct(block(ops, b).adjoint());
      }
      const double weight = next_.trace().real();
      if (!(weight >= std::numeric_limits<double>::min()) || !std::isfinite(weight))
        throw NotFiniteError({0, t});
      weights_[t] = weight;
      if (scored(t)) count(ops, t, weight);
      // not next / weight: Eigen divides by a complex number, whose square underflows
      states_.push_back(next_ * (1.0 / weight));
    }
  }

  [[nodiscard]] bool scored(std::size_t t) const {
    return t >= options_.burn_in && sequence_[t] != kMissing;
  }

  void count(const Operators& ops, std::size_t t, double weight) {
    ++out_.scored;
    const double log_weight = std::log(weight);
    out_.raw_log_likelihood += log_weight;
    const double total =
        feasible_ ? 1.0 : (grams_[ops.index].array().conjugate() * states_[t].array()).sum().real();
    out_.log_likelihood += feasible_ ? log_weight : log_weight - std::log(total);
  }

  void backward() {
    const Index n = model_.latent_dim();
    const std::size_t stop = options_.through_burn_in ? 0 : options_.burn_in;
    Matrix s = Matrix::Zero(n, n);
    for (std::size_t t = sequence_.size(); t-- > stop;) {
      const Operators ops = operators_at(t);
      const double shift = (scored(t) ? weight_ : 0.0) -
                           (s.array().conjugate() * states_[t + 1].array()).sum().real();
      Matrix a = s;
      a.diagonal().array() += shift;
      a *= 1.0 / weights_[t];
      s.setZero();
      for (const Index b : ops.blocks) {
        const Matrix& k = block(ops, b);
        left_.noalias() = a.lazyProduct(k);
        out_.sets[ops.index].middleRows(b * n, n).noalias() -=
            (2.0 * left_).lazyProduct(states_[t]);
        s.noalias() += k.adjoint().lazyProduct(left_);
      }
    }
    if (options_.want_initial_state) {
      // Stopped at a burn-in, nothing of the loss reaches the initial state.
      out_.initial_state = stop > 0 ? Matrix::Zero(n, n) : Matrix(-0.5 * (s + s.adjoint()));
    }
    require_finite();
  }

  /// A weight above zero can still be too small to divide by; the smallest one is to blame.
  void require_finite() const {
    const auto finite = [](const auto& m) { return m.allFinite(); };
    if (std::all_of(out_.sets.begin(), out_.sets.end(), finite) && finite(out_.initial_state))
      return;
    const auto least = std::min_element(weights_.begin(), weights_.end());
    throw NotFiniteError({0, static_cast<std::size_t>(least - weights_.begin())});
  }

  const Hqmm& model_;
  const SequenceView& sequence_;
  const GradientOptions& options_;
  double weight_;  // of the sequence, in the loss
  bool feasible_;
  std::vector<Matrix> grams_;
  std::vector<std::vector<Matrix>> operators_;  // [set][block of Γ], column-major like the states
  std::vector<Matrix> states_;                  // R_0 … R_T
  std::vector<double> weights_;                 // p_0 … p_{T−1}
  Matrix left_, next_;
  BatchGradient out_;
};

}  // namespace

BatchGradient reference_gradient(const Hqmm& model, const SequenceView& sequence,
                                 const GradientOptions& options) {
  const double weight = options.weights.empty() ? 1.0 : options.weights.front();
  return AdjointPass(model, sequence, options, weight).run();
}

BatchGradient reference_gradient(const Hqmm& model, std::span<const SequenceView> batch,
                                 const GradientOptions& options, int threads) {
  return parallel_reduce(
      batch.size(), threads, BatchGradient{},
      [&](std::size_t i) {
        const double weight = options.weights.empty() ? 1.0 : options.weights[i];
        try {
          return AdjointPass(model, batch[i], options, weight).run();
        } catch (const NotFiniteError& error) {
          throw NotFiniteError({i, error.place().position});
        }
      },
      [](BatchGradient a, const BatchGradient& b) {
        a += b;
        return a;
      });
}

}  // namespace hqmm::detail
