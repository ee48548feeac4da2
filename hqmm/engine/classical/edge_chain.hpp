// EdgeChain: sequences of a model that emits on its edges, many at a time and by words of several
// symbols, as a chain pass walks them.
//
// To a chain pass the model is x ↦ T_y x with the sum of x as its weight. The derivative of the
// likelihood's logarithm by (T_y)_ij, times (T_y)_ij, is how often that edge is expected to be
// taken.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hqmm/engine/chain/chain.hpp"
#include "hqmm/engine/chain/linear_form.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {

[[nodiscard]] bool any_known(const SequenceView& sequence);

class EdgeChain {
 public:
  /// Keeps a reference to the model.
  explicit EdgeChain(const EdgeHmm& model);

  /// False when a number left the range of doubles, as it does after a symbol of probability zero:
  /// then only one sequence at a time tells. There must be no sets (symbol_sets.hpp).
  [[nodiscard]] bool score(std::span<const SequenceView> batch, std::size_t burn_in);
  /// The same with derivatives; a sequence counts as often as its weight says. Sequences must have
  /// a known symbol each.
  [[nodiscard]] bool differentiate(std::span<const SequenceView> batch,
                                   std::span<const double> weights);

  // Pieces of a long sequence, all of which are loaded before they are walked.
  void load(std::span<const SequenceView> pieces, double weight);
  /// Doubles of a state. What is beyond the model's states is padding, and zero.
  [[nodiscard]] std::size_t state_size() const {
    return static_cast<std::size_t>(column_stride(model_.latent_dim()));
  }
  /// x: the state before piece k, of weight one, and then the one after it. What the logarithm of
  /// the weight changed by on the way; nothing where numbers left the range of doubles.
  [[nodiscard]] std::optional<double> advance(std::size_t k, double* x);
  /// With the state before every piece and, up to a factor, the adjoint after it.
  [[nodiscard]] bool differentiate_between(const double* starts, const double* ends);

  // Of the batch:
  [[nodiscard]] std::uint64_t scored(std::size_t i) const { return program_.scored[i]; }
  [[nodiscard]] double log_likelihood(std::size_t i) const { return log_likelihoods_[i]; }
  /// out += the derivative by T_y; of y = s, by the sum of them where a symbol is missing.
  void add_derivative(std::size_t y, RealMatrix& out) const;
  void add_initial_derivative(RealVector& out) const;

 private:
  void write(std::span<const SequenceView> batch, bool backward, const ProgramOptions& options);
  void write_form();
  [[nodiscard]] bool walk(std::size_t first, std::size_t last, const ChainOptions& how);
  [[nodiscard]] bool finite() const;

  const EdgeHmm& model_;
  RealMatrix total_;
  std::vector<double> log_likelihoods_, log_totals_;
  std::size_t word_length_ = 1;
  Program program_;
  TraceForm form_;
  ChainScratch scratch_;
  ChainResult result_;
};

}  // namespace hqmm::detail
