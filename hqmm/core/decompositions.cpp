#include "hqmm/core/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace hqmm::detail {

HermitianEigen hermitian_eigen(const Matrix& a) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

RealVector hermitian_eigenvalues(const Matrix& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

std::optional<std::vector<Complex>> eigenvalues(const RealMatrix& a) {
  const Eigen::EigenSolver<RealMatrix> solver(a, /*computeEigenvectors=*/false);
  if (solver.info() != Eigen::Success) return {};
  const auto& values = solver.eigenvalues();
  return std::vector<Complex>(values.data(), values.data() + values.size());
}

ThinQr thin_qr(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  return {qr.householderQ() * Matrix::Identity(a.rows(), a.cols()), qr.matrixQR().diagonal()};
}

FullQr full_qr(const Matrix& a) {
  const Eigen::HouseholderQR<Matrix> qr(a);
  FullQr out{qr.householderQ() * Matrix::Identity(a.rows(), a.rows()), qr.matrixQR()};
  out.r.triangularView<Eigen::StrictlyLower>().setZero();
  return out;
}

FullSvd full_svd(const Matrix& a) {
  const Eigen::BDCSVD<Matrix> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

NormalEigen normal_eigen(const Matrix& a) {
  const Eigen::ComplexSchur<Matrix> schur(a);
  return {schur.matrixT().diagonal(), schur.matrixU()};
}

Matrix solve(const Matrix& a, const Matrix& b) { return a.partialPivLu().solve(b); }

Matrix svd_unitary_factor(const Matrix& a) {
  const Eigen::JacobiSVD<Matrix> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return svd.matrixU() * svd.matrixV().adjoint();
}

Index numerical_rank(const Matrix& a, double tolerance) {
  Eigen::ColPivHouseholderQR<Matrix> qr(a);
  qr.setThreshold(tolerance);
  return qr.rank();
}

RealVector singular_values(const Matrix& a) { return Eigen::JacobiSVD<Matrix>(a).singularValues(); }

}  // namespace hqmm::detail
