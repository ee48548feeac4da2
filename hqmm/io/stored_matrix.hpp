// A matrix of numbers as a MATLAB or HDF5 file stores it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hqmm/io/integer_matrix.hpp"

namespace hqmm::detail {

struct StoredMatrix {
  std::string name;
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool by_columns = false;  // column after column, as MATLAB does
  std::variant<std::vector<std::int32_t>, std::vector<double>> numbers;

  /// Reads from this matrix, which must outlive it.
  [[nodiscard]] IntegerMatrix view() const;
};

/// Those of several.
[[nodiscard]] std::vector<IntegerMatrix> views(const std::vector<StoredMatrix>& matrices);

}  // namespace hqmm::detail
