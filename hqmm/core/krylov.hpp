// Leading eigenvalues of a matrix that is only known by what it does to a vector.
#pragma once

#include <functional>
#include <optional>

#include "hqmm/core/types.hpp"

namespace hqmm {

/// y = Ax of a real square matrix that is only known by what it does.
struct LinearMap {
  Index order = 0;
  std::function<void(const double* x, double* y)> apply;
};
enum class Leading { kLargestModulus, kLargestReal };
struct KrylovOptions {
  Index wanted = 1;
  Index space = 40;  // vectors kept; more converge sooner
  double tolerance = 1e-12;
  const double* start = nullptr;  // nothing: a fixed pseudo-random vector
};
struct KrylovEigen {
  Vector values;
  Matrix vectors;  // a column for each value
};
/// The leading eigenvalues by the implicitly restarted Arnoldi method; nothing when it does not
/// converge.
[[nodiscard]] std::optional<KrylovEigen> leading_eigen(const LinearMap& map, Leading which,
                                                       const KrylovOptions& options);

}  // namespace hqmm
