// EdgeChain: sequences of a model that emits on its edges, many at a time and by words of several
// symbols, as a chain pass walks them.
//
// To a chain pass the model is x ↦ T_y x with the sum of x as its weight. The derivative of the
// likelihood's logarithm by (T_y)_ij, times (T_y)_ij, is how often that edge is expected to be
// taken.
#pragma once

#include <span>
#include <vector>

#include "hqmm/engine/chain/chain.hpp"
#include "hqmm/engine/chain/linear_form.hpp"
#include "hqmm/model/edge_hmm.hpp"

namespace hqmm {

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

  // Of the batch:
  [[nodiscard]] std::uint64_t scored(std::size_t i) const { return program_.scored[i]; }
  [[nodiscard]] double log_likelihood(std::size_t i) const { return log_likelihoods_[i]; }
  /// out += the derivative by T_y; of y = s, by the sum of them where a symbol is missing.
  void add_derivative(std::size_t y, RealMatrix& out) const;
  void add_initial_derivative(RealVector& out) const;

 private:
  [[nodiscard]] int longest_word(std::span<const SequenceView> batch, bool backward) const;
  void write_form();
  [[nodiscard]] bool walk(bool backward, int word_length);
  [[nodiscard]] bool finite() const;

  const EdgeHmm& model_;
  RealMatrix total_;
  std::vector<double> log_likelihoods_, log_totals_;
  Program program_;
  TraceForm form_;
  ChainScratch scratch_;
  ChainResult result_;
};

}  // namespace hqmm
