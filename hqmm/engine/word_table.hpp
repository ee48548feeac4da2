// WordTable: the operators of all words of up to a few symbols, for sequences so long that making
// them all costs little against walking past them.
//
// A LinearModel is what HMMs and HQMMs are to a long sequence: a state x and one real matrix per
// symbol. Every operator is stored times a power of two that brings its heaviest weight near one,
// so that words of improbable symbols stay in the range of doubles.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/engine/block_kernels.hpp"

namespace hqmm::detail {

struct LinearModel {
  /// rows × rows operators of so many symbols, all zero.
  LinearModel(Index row_count, std::size_t symbol_count);

  [[nodiscard]] double* matrix(std::size_t symbol) {
    return operators.data() + symbol * operator_size();
  }
  [[nodiscard]] std::size_t operator_size() const {
    return static_cast<std::size_t>(rows * stride);
  }
  /// Of states, or of operators as states: see `squared`. So many columns, `stride` apart.
  [[nodiscard]] double weight(const double* x, Index cols) const;
  /// What an operator weighs: no state gains more by it.
  [[nodiscard]] double heaviest(const double* matrix) const;

  Index rows;
  Index stride;         // between columns
  std::size_t symbols;  // a missing one is the last of them, where there are any
  bool has_missing = false;
  /// The weight of a state is the sum of its first `traced` rows; or, if `squared`, that of the
  /// squares of all: then an operator is K of ρ ↦ KρK†, and only its first `block_cols` columns
  /// tell, the others being those of its real form.
  Index traced = 0;
  bool squared = false;
  Index block_cols = 0;
  /// Weights of less than this share of what they could be may be nothing but rounding.
  double doubtful = 0.0;
  AlignedDoubles operators;
  AlignedDoubles initial;  // columns of the initial state
  Index initial_cols = 1;
};

class WordTable {
 public:
  /// Of words of up to `length` symbols. `both_ways`: transposed, too.
  WordTable(const LinearModel& model, int length, bool both_ways, int threads);

  [[nodiscard]] const LinearModel& model() const { return *model_; }
  [[nodiscard]] std::size_t length() const { return firsts_.size() - 1; }
  /// The number of the first word of so many symbols; of those, a word is as its symbols read as
  /// the digits of a number.
  [[nodiscard]] std::uint32_t first_of(std::size_t length) const { return firsts_[length - 1]; }

  [[nodiscard]] std::uint32_t words() const { return firsts_.back(); }

  [[nodiscard]] const double* matrix(std::uint32_t word) const {
    return forward_.data() + word * model_->operator_size();
  }
  [[nodiscard]] const double* transposed(std::uint32_t word) const {
    return backward_.data() + word * model_->operator_size();
  }
  /// Matrices and scales of all words.
  [[nodiscard]] const double* matrices() const { return forward_.data(); }
  [[nodiscard]] const WordScale* scales() const { return scales_.data(); }

 private:
  void clear(std::uint32_t word);
  void take_symbol(std::uint32_t symbol);
  void fuse(std::uint32_t word, std::uint32_t prefix, std::uint32_t last);
  void normalise(std::uint32_t word);
  void multiply(const double* left, const double* right, double* out) const;
  [[nodiscard]] double* own(AlignedDoubles& table, std::uint32_t word) const {
    return table.data() + word * model_->operator_size();
  }

  const LinearModel* model_;
  bool both_ways_;
  PanelKernel kernel_;
  std::vector<std::uint32_t> firsts_;  // and at last the number of words
  std::vector<WordScale> scales_;
  AlignedDoubles forward_, backward_;
};

}  // namespace hqmm::detail
