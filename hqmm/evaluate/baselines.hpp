// What a practitioner would try first, to compare with: per class a table of symbol frequencies.
//
//   position weights   P(x) = Π_t p_t(x_t)                 a distribution per position
//   positional chain   P(x) = p_0(x_0) Π_t p_t(x_t | x_{t−1})   (weight array)
//   Markov chain       P(x) = Π_t p(x_t | x_{t−k} … x_{t−1})    the same at all positions
//
// p = (count + a·s·q) / (total + a·s) with the pseudo count a, where q is the p of the context
// without its oldest symbol, and 1/s without any. Positions are counted from the start or the end
// of a sequence; where training had none that long, the frequencies of all positions together hold.
// A chain's first symbols have shorter contexts. Missing symbols are summed over exactly: the
// contexts that are possible are carried along with their probabilities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/filter_likelihood.hpp"

namespace hqmm::detail {

struct BaselineOptions {
  enum class Kind { kPositionWeights, kPositionalChain, kMarkovChain };
  Kind kind = Kind::kPositionWeights;
  std::size_t order = 3;  // Markov chain; less when s^(order+1) entries would be too many
  double pseudo_count = 1.0;
  bool from_end = false;  // where positions are counted from

  [[nodiscard]] std::string name() const;
};

/// The frequencies of one class.
class FrequencyModel {
 public:
  /// Of the given rows of a set.
  FrequencyModel(const SequenceSet& data, const std::vector<std::uint32_t>& rows,
                 const BaselineOptions& options);
  [[nodiscard]] double log_likelihood(const SequenceView& sequence) const;

 private:
  using Table = std::vector<double>;  // [context][symbol], contexts as numbers in base s

  /// The table that applies at position t of a sequence, whose context has `known` symbols.
  [[nodiscard]] const Table& table_at(std::size_t t, std::size_t length, std::size_t known) const;
  /// Where position t stands in the tables; nothing beyond them.
  [[nodiscard]] std::size_t place(std::size_t t, std::size_t length) const;
  void count(const SequenceView& sequence);
  /// `shorter`: the table of contexts one symbol shorter, or none.
  void normalise(Table& table, const Table* shorter) const;

  BaselineOptions options_;
  std::size_t symbols_ = 0;
  std::vector<Symbol> all_;             // of a missing one: any
  std::size_t context_ = 0;             // the longest context
  std::vector<Table> pooled_;           // by context length, over all positions
  std::vector<std::vector<Table>> at_;  // [context length][position]; none for Markov chains
};

}  // namespace hqmm::detail
