// Integer matrices as sequences: what MATLAB, NumPy and HDF5 files have in common. Rows are
// sequences, numbers are symbols counted from a base, NaN is a missing symbol.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/io/sequences.hpp"

namespace hqmm::detail {

struct IntegerMatrix {
  std::string name;  // "" in formats without names
  std::size_t rows = 0;
  std::size_t columns = 0;
  /// A double holds every number that can be a symbol; those it rounds are errors anyway.
  std::function<double(std::size_t row, std::size_t column)> cell;
};

/// One set from all rows of all matrices. Of several matrices each is a class, called by the last
/// part of its name. `one_based_without_zero` is MATLAB's habit: with no base given and no 0 in
/// sight, symbols start at 1. A number that is not a symbol is kBadData with its matrix, row and
/// column.
[[nodiscard]] SequenceSet to_sequences(const std::vector<IntegerMatrix>& matrices,
                                       bool one_based_without_zero, const std::string& file,
                                       const ReadOptions& options);

/// The error for a file whose matrix was not chosen, or not found.
[[nodiscard]] Error choose_variable(const std::string& file, const std::string& wanted,
                                    const std::vector<std::string>& available);

}  // namespace hqmm::detail
