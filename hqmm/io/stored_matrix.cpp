#include "hqmm/io/stored_matrix.hpp"

namespace hqmm::detail {

IntegerMatrix StoredMatrix::view() const {
  IntegerMatrix out{name, rows, columns, {}};
  std::visit(
      [&](const auto& stored) {
        out.cell = [data = stored.data(), by_columns = by_columns, rows = rows, columns = columns](
                       std::size_t row, std::size_t column) {
          return static_cast<double>(by_columns ? data[column * rows + row]
                                                : data[row * columns + column]);
        };
      },
      numbers);
  return out;
}

std::vector<IntegerMatrix> views(const std::vector<StoredMatrix>& matrices) {
  std::vector<IntegerMatrix> out;
  out.reserve(matrices.size());
  for (const StoredMatrix& matrix : matrices) out.push_back(matrix.view());
  return out;
}

}  // namespace hqmm::detail
