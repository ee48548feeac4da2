#include "hqmm/model/hmm.hpp"

#include <cmath>

#include "hqmm/core/error.hpp"

namespace hqmm {
namespace {

constexpr double kSumTolerance = 1e-9;

void require_stochastic_columns(const RealMatrix& matrix, const char* name) {
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i) {
      const double value = matrix(i, j);
      if (!std::isfinite(value)) {
        throw fail(ErrorCode::kBadData, "{}[{},{}] is not a finite number", name, i, j);
      }
      if (value < 0.0)
        throw fail(ErrorCode::kBadData, "{}[{},{}] = {:.6g} is negative", name, i, j, value);
    }
    const double sum = matrix.col(j).sum();
    if (std::abs(sum - 1.0) > kSumTolerance) {
      throw fail(ErrorCode::kBadData, "column {} of {} sums to {:.12g}, expected 1", j, name, sum);
    }
  }
}

}  // namespace

void require_valid(const Hmm& model) {
  const Index n = model.latent_dim();
  if (n < 1 || model.transition.cols() != n) {
    throw fail(ErrorCode::kBadData, "the transition matrix is {}×{}, expected a square one",
               model.transition.rows(), model.transition.cols());
  }
  if (model.alphabet_size() < 1 || model.emission.cols() != n) {
    throw fail(ErrorCode::kBadData, "the emission matrix is {}×{}, expected {} columns",
               model.emission.rows(), model.emission.cols(), n);
  }
  if (model.initial.size() != n) {
    throw fail(ErrorCode::kBadData, "the initial distribution has {} entries, expected {}",
               model.initial.size(), n);
  }
  if (model.alphabet.size() != static_cast<std::size_t>(model.alphabet_size())) {
    throw fail(ErrorCode::kBadData, "the alphabet has {} symbols, the emission matrix {}",
               model.alphabet.size(), model.alphabet_size());
  }
  require_stochastic_columns(model.transition, "transition");
  require_stochastic_columns(model.emission, "emission");
  require_stochastic_columns(model.initial, "initial");
}

}  // namespace hqmm
