// By two singular value decompositions and two QRs (Van Loan, Numer. Math. 46 (1985) 479): each
// angle is taken from the half in which it is well determined. LAPACK's zuncsd does the same for a
// square matrix; see docs/decisions/0023-circuits.md.
#include "hqmm/circuit/cosine_sine.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hqmm/core/decompositions.hpp"

namespace hqmm::detail {
namespace {

/// Divides the columns of q by the phases of r's diagonal, so that it becomes positive.
void move_phases(const Matrix& r, Index first, Matrix& q) {
  for (Index j = 0; j < std::min(r.rows(), r.cols()); ++j) {
    const double size = std::abs(r(j, j));
    if (size > 0.0) q.col(first + j) *= r(j, j) / size;
  }
}

}  // namespace

CosineSine cosine_sine(const Matrix& columns) {
  const Index m = columns.rows() / 2;
  const Index p = columns.cols();
  // Ascending cosines: the columns of B V come with descending norms, the sines.
  FullSvd svd = full_svd(columns.topRows(m));
  CosineSine out;
  out.left_0 = svd.u;
  out.left_0.leftCols(p) = svd.u.leftCols(p).rowwise().reverse();
  Matrix v = svd.v.rowwise().reverse();
  const RealVector cosines = svd.values.reverse();
  Index small = 0;  // cosines up to √½: their sines are sharp after a QR
  while (small < p && cosines(small) <= std::numbers::sqrt2 / 2.0) ++small;

  FullQr qr = full_qr(columns.bottomRows(m) * v);
  out.left_1 = qr.q;
  RealVector c = cosines;
  RealVector s = qr.r.diagonal().cwiseAbs();
  const Index rest = p - small;
  if (rest > 0) {
    // The others: the sines from an SVD, then the cosines from a QR.
    const FullSvd trailing = full_svd(qr.r.block(small, small, rest, rest));
    s.tail(rest) = trailing.values;
    out.left_1.middleCols(small, rest) = (qr.q.middleCols(small, rest) * trailing.u).eval();
    v.rightCols(rest) = (v.rightCols(rest) * trailing.v).eval();
    const FullQr back = full_qr(cosines.tail(rest).asDiagonal() * trailing.v);
    c.tail(rest) = back.r.diagonal().cwiseAbs();
    out.left_0.middleCols(small, rest) = (out.left_0.middleCols(small, rest) * back.q).eval();
    move_phases(back.r, small, out.left_0);
  }
  move_phases(qr.r.topLeftCorner(small, small), 0, out.left_1);
  out.angles.resize(p);
  for (Index j = 0; j < p; ++j) out.angles(j) = std::atan2(s(j), c(j));
  out.right = v.adjoint();
  return out;
}

}  // namespace hqmm::detail
