// Why a classifier decides as it does, position by position.
//
// The contribution of position t of x to class c is what its symbol changes in the log-odds of c:
//
//   Δ(t, c) = λ_c(x) − λ_c(x with t marginalised),   λ_c = log P(c|x) / (1 − P(c|x))
//
// in nats. One forward and one backward pass per class give all positions. Averages are taken over
// the rows of a class, and for every symbol over all rows that have it at that position.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/classifier.hpp"

namespace hqmm::detail {

/// [t·classes + c]; 0 where the symbol is missing. Log-odds beyond ±700 count as that. Throws
/// kBadData for a model that is not trace preserving: its weights cannot be marginalised.
[[nodiscard]] std::vector<double> contributions(const Classifier& classifier,
                                                const SequenceView& sequence);

/// Averages over rows, possibly of several classifiers of the same classes (one per fold).
class Explanation {
 public:
  static constexpr std::size_t kMostPositions = 1000;  // from the anchor on; the rest is left out

  Explanation(std::vector<std::string> classes, Alphabet alphabet, bool from_end);

  /// labels: the place of each row's class in classes(). At most `most` rows, evenly spaced.
  void add(const Classifier& classifier, const SequenceSet& set,
           std::span<const std::uint32_t> labels, std::size_t most, int threads);

  struct Cell {
    double sum = 0.0;
    std::uint64_t rows = 0;
    [[nodiscard]] double mean() const { return rows == 0 ? 0.0 : sum / static_cast<double>(rows); }
  };
  [[nodiscard]] const std::vector<std::string>& classes() const { return classes_; }
  [[nodiscard]] const Alphabet& alphabet() const { return alphabet_; }
  [[nodiscard]] std::size_t positions() const { return positions_; }
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  /// 0-based from the start; from the end −1 is the last.
  [[nodiscard]] std::int64_t position_name(std::size_t place) const;
  /// Over the rows of class c.
  [[nodiscard]] Cell own(std::size_t c, std::size_t place) const;
  [[nodiscard]] const Cell& own(std::size_t c, std::size_t place, Symbol symbol) const;
  /// Contribution to class c, over all rows that have the symbol there.
  [[nodiscard]] const Cell& all(std::size_t c, std::size_t place, Symbol symbol) const;

  /// The places that speak most for class c in its own rows, the strongest first, each with the
  /// symbol that does most of it.
  struct Strong {
    std::size_t place = 0;
    double mean = 0.0;
    Symbol symbol = 0;
    double symbol_mean = 0.0;   // over all rows that have it there
    double symbol_share = 0.0;  // of the rows of the class
  };
  [[nodiscard]] std::vector<Strong> strongest(std::size_t c, std::size_t count) const;

 private:
  [[nodiscard]] std::size_t index(std::size_t c, std::size_t place, std::size_t symbol) const {
    return (place * classes_.size() + c) * alphabet_.size() + symbol;
  }
  void add_row(const SequenceView& row, std::uint32_t label, std::span<const double> found,
               std::span<const std::size_t> columns);

  std::vector<std::string> classes_;
  Alphabet alphabet_;
  bool from_end_;
  std::size_t positions_ = 0;
  std::uint64_t rows_ = 0;
  std::vector<Cell> own_;
  std::vector<Cell> all_;
};

}  // namespace hqmm::detail
