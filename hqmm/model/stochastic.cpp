#include "hqmm/model/stochastic.hpp"

#include <cmath>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

void require_weights(const RealMatrix& matrix, const std::string& name) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      const double value = matrix(i, j);
      if (!std::isfinite(value))
        throw fail(ErrorCode::kBadData, "{}[{},{}] is not a finite number", name, i, j);
      if (value < 0.0)
        throw fail(ErrorCode::kBadData, "{}[{},{}] = {:.6g} is negative", name, i, j, value);
    }
  }
}

void require_stochastic_columns(const RealMatrix& matrix, const std::string& name) {
  require_weights(matrix, name);
  for (Index j = 0; j < matrix.cols(); ++j) {
    const double sum = matrix.col(j).sum();
    if (std::abs(sum - 1.0) > kSumTolerance)
      throw fail(ErrorCode::kBadData, "column {} of {} sums to {:.12g}, expected 1", j, name, sum);
  }
}

}  // namespace hqmm::detail
