// Leading eigenvalues of a matrix that is only known by what it does to a vector.
#pragma once

#include <functional>
#include <optional>

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

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
  Index most_products = 100'000;  // A is applied about so often at most
};
struct KrylovEigen {
  Vector values;
  Matrix vectors;  // a column for each value; none when not converged
  bool converged = false;
};
/// The leading eigenvalues by the implicitly restarted Arnoldi method, or what it holds for them
/// when its products are used up. Nothing when it fails.
[[nodiscard]] std::optional<KrylovEigen> leading_eigen(const LinearMap& map, Leading which,
                                                       const KrylovOptions& options);

}  // namespace hqmm::detail
