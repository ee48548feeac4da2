// WordTables: what whole words of symbols do to a window's state, worked out once per model.
//
//   a window of L symbols = a head, bodies and a tail
//   head    every word's state after it                          x = R_{y_k} … R_{y_1} x₀
//   body    every word as one matrix, one table per stretch      F = R_{y_k} … R_{y_1}
//   tail    every word's effect                                  eᵀ R_{y_L} … R_{y_{L−k+1}}
//
// So a window of 60 bases costs two look-ups and a dozen small products. The numbers are those of
// symbol by symbol but for rounding, with one exception: where almost everything cancels, rounding
// is what is left. Such words have a bound that is not a number, and whoever meets one asks the
// filter.
//
// A word's code is its symbols as a number in base s, the first one weighing most.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/engine/windows/window_model.hpp"

namespace hqmm::detail {

/// A weight that is so small a part of the most that the matrix can give is not to be believed.
inline constexpr double kCancelled = 1e-5;

/// How a window is cut. Heads and tails of at most `edge` symbols, bodies of at most `body`.
struct WindowCut {
  std::size_t head = 0;
  std::vector<std::size_t> bodies;
  std::size_t tail = 0;
};
[[nodiscard]] WindowCut cut_window(std::size_t window, std::size_t edge, std::size_t body);

/// States or effects of all words, in the order of their codes.
struct EdgeTable {
  std::size_t length = 0;
  AlignedDoubles vectors;      // stride apart
  std::vector<double> bounds;  // of a head its weight; of a tail the norm; NaN: ask the filter
};

struct BodyTable {
  std::size_t length = 0;
  AlignedDoubles matrices;     // matrix_size() apart
  std::vector<double> bounds;  // norm of eᵀF; NaN: ask the filter
};

class WordTables {
 public:
  /// The model must outlive the tables.
  WordTables(const WindowModel& model, std::size_t window, int threads);

  [[nodiscard]] const EdgeTable& head() const { return head_; }
  [[nodiscard]] const EdgeTable& tail() const { return tail_; }
  /// The k-th body begins at body_begin(k).
  [[nodiscard]] std::size_t bodies() const { return table_of_.size(); }
  [[nodiscard]] std::size_t body_begin(std::size_t k) const { return begin_of_[k]; }
  [[nodiscard]] const BodyTable& body(std::size_t k) const { return tables_[table_of_[k]]; }
  /// ‖eᵀR‖ of every matrix of a set.
  [[nodiscard]] double bound(std::uint32_t set, std::size_t symbol) const {
    return bounds_[set][symbol];
  }

 private:
  void build_bounds();
  void build_head(std::size_t length);
  void build_tail(std::size_t length);
  [[nodiscard]] BodyTable build_body(const std::vector<std::uint32_t>& sets) const;
  [[nodiscard]] double norm_of_weight(const double* matrix) const;
  [[nodiscard]] std::uint32_t set_at(std::size_t t) const {
    return model_.positions.set_at(t, window_);
  }

  const WindowModel& model_;
  std::size_t window_;
  EdgeTable head_, tail_;
  std::vector<BodyTable> tables_;  // bodies of equal sets share one
  std::vector<std::size_t> table_of_, begin_of_;
  std::vector<std::vector<double>> bounds_;
};

/// The bytes that the tables of a model of so many coordinates may take, about.
[[nodiscard]] double word_table_bytes(Index size, std::size_t symbols, std::size_t window);

}  // namespace hqmm::detail
