// What a pass over a part of a batch gives, and how parts are put together.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// The step that made a state smallest, in the careful mode: the one to blame for an overflow.
struct LeastWeight {
  double weight = std::numeric_limits<double>::infinity();
  std::size_t sequence = 0;
  std::size_t position = 0;
};

/// ∂ℓ by one operator. While `used` is zero the values are not set and the first term overwrites
/// them: most words of a table are never met in a small batch, and clearing them all would cost
/// more than the pass.
struct OperatorGradient {
  double* values = nullptr;
  char* used = nullptr;
};

class GradientTable {
 public:
  /// All unused.
  void reset(std::size_t operators, std::size_t size);
  [[nodiscard]] OperatorGradient of(std::size_t op) {
    return {values_.data() + op * size_, used_.data() + op};
  }
  /// The values, cleared if this is their first use.
  double* started(std::size_t op);
  [[nodiscard]] const double* values(std::size_t op) const { return values_.data() + op * size_; }
  [[nodiscard]] bool used(std::size_t op) const { return used_[op] != 0; }
  [[nodiscard]] std::size_t operators() const { return used_.size(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// += the values of the operators [first, last).
  void add(const GradientTable& other, std::size_t first, std::size_t last);
  /// += the values of one operator, unused until then or not.
  void add(std::size_t op, const double* values);
  void pack(Packer& out) const;
  void unpack(Unpacker& in);

 private:
  AlignedDoubles values_;
  std::vector<char> used_;
  std::size_t size_ = 0;
};

struct ChainResult {
  std::span<double> log_likelihoods;  // raw, of every sequence of the program
  std::span<double> log_totals;       // Σ log of the totals, for a model that is not feasible
  std::span<char> suspects;           // [sequence]: see ChainOptions::suspect_below
  std::vector<double> initial;        // Σ of the adjoints at the initial state
  GradientTable gradients;
  LeastWeight least;

  /// fold_results() of two.
  ChainResult& operator+=(ChainResult& other);
  /// Without likelihoods, and without the careful mode's `least`.
  void pack(Packer& out) const;
  void unpack(Unpacker& in);
};

/// The sum of all, along a fixed tree, into the first. Of gradients: likelihoods are kept per
/// sequence and are not added up here.
void fold_results(std::span<ChainResult* const> results, int threads);

}  // namespace hqmm::detail
