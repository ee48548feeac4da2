// Markov chains of any order over any alphabet, from counts of the contexts that occurred.
//
//   p_k(y | c) = (count(c y) + m · p_{k−1}(y | c')) / (count(c) + m),   p_0 from p_{−1} = 1/s
//
// c' is c without its oldest symbol and m = a·s with the pseudo count a: the smoothing of
// baselines.hpp, whose dense tables hold at most a few symbols of context. A missing symbol or a
// set ends the context: what follows it is predicted from the symbols after it alone, so
// probabilities still sum to one. A set's probability is the sum of its members'.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {

class ContextChain {
 public:
  /// Counts contexts of up to `order` symbols; throws kUsage when their numbers do not fit 64 bits.
  ContextChain(const SequenceSet& data, std::size_t order);

  /// Of the chain of an order up to that counted; the first burn_in symbols are context only.
  [[nodiscard]] double log_likelihood(const SequenceView& sequence, std::size_t order,
                                      double pseudo_count, std::size_t burn_in = 0) const;
  /// Contexts of that many symbols that occurred, times s − 1.
  [[nodiscard]] std::size_t parameters(std::size_t order) const;

 private:
  using Counts = std::unordered_map<std::uint64_t, std::uint32_t>;
  struct Level {  // contexts of one length, as numbers in base s
    Counts contexts;
    Counts entries;  // context and symbol
  };

  [[nodiscard]] double probability(const SequenceView& sequence, std::size_t t, Symbol symbol,
                                   std::size_t known, double mass) const;

  std::size_t symbols_ = 0;
  std::vector<Level> levels_;
};

}  // namespace hqmm::detail
