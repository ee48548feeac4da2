#include "hqmm/stiefel/polar.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cassert>
#include <cmath>
#include <limits>

#include "hqmm/stiefel/gram.hpp"

namespace hqmm {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Stack polar(const Stack& z) {
  if (!z.allFinite()) return z;
  const Eigen::JacobiSVD<Matrix> svd(z, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return svd.matrixU() * svd.matrixV().adjoint();
}

double nuclear_norm(const Stack& z) {
  if (!z.allFinite()) return kNaN;
  return Eigen::JacobiSVD<Matrix>(z).singularValues().sum();
}

double spectral_norm(const Stack& z) {
  if (!z.allFinite()) return kNaN;
  if (is_zero(z)) return 0.0;
  if (z.rows() < z.cols()) return spectral_norm(z.adjoint());
  const double scale = safe_scale(z);
  const Matrix h = scale == 1.0 ? gram(z) : gram(Stack(scale * z));
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(h, Eigen::EigenvaluesOnly);
  return std::sqrt(solver.eigenvalues().maxCoeff()) / scale;
}

double operator_distance(const Stack& a, const Stack& b) {
  assert(a.rows() == b.rows() && a.cols() == b.cols());
  return spectral_norm(a - b);
}

}  // namespace hqmm
