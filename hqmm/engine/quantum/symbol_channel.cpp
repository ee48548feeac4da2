#include "hqmm/engine/quantum/symbol_channel.hpp"

#include <algorithm>
#include <numbers>

#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {
namespace {

constexpr double kRoot2 = std::numbers::sqrt2;

}  // namespace

SymbolChannel::SymbolChannel(Index n, Index w, bool real, SymbolScratch& scratch)
    : n_(n),
      w_(w),
      size_(n * n),
      stride_(column_stride(size_)),
      real_(real),
      planes_(real ? 1 : 2),
      out_stride_(column_stride(coordinate_count(n, real))),
      kernel_(panel_kernel()),
      u_(scratch.u),
      turned_(scratch.turned),
      by_im_(scratch.by_im),
      re_(scratch.re),
      im_(scratch.im) {
  for (AlignedDoubles* columns : {&u_, &turned_, &by_im_})
    columns->resize(static_cast<std::size_t>(planes_ * w * stride_));
  // what pads the columns is multiplied along
  std::fill_n(u_.data(), u_.size(), 0.0);
  for (AlignedDoubles* matrix : {&re_, &im_}) {
    if (real && matrix == &im_) continue;
    matrix->resize(static_cast<std::size_t>(size_ * stride_));
    if (padded_rows(size_) != size_) std::fill_n(matrix->data(), matrix->size(), 0.0);
  }
}

/// u_q: columns 2q (real) and 2q + 1 (imaginary), or q; rows (i, a) = i·n + a.
void SymbolChannel::load(const Complex* k) {
  for (Index q = 0; q < w_; ++q) {
    double* re = u_.data() + planes_ * q * stride_;
    double* im = re + stride_;
    for (Index a = 0; a < n_; ++a) {
      for (Index i = 0; i < n_; ++i, ++k) {
        re[i * n_ + a] = k->real();
        if (!real_) im[i * n_ + a] = k->imag();
      }
    }
  }
}

void SymbolChannel::write_operator(double* out) {
  outer();
  if (!real_) outer_im();
  const HermitianCoordinates to(n_);
  for (Index i = 0; i < n_; ++i) {
    if (real_) {
      for (Index j = i; j < n_; ++j)
        write_real_column(i, j, out + (j == i ? i : to.re(i, j)) * out_stride_);
      continue;
    }
    write_diagonal(i, out + i * out_stride_);
    for (Index j = i + 1; j < n_; ++j)
      write_pair(i, j, out + to.re(i, j) * out_stride_, out + to.im(i, j) * out_stride_);
  }
}

void SymbolChannel::add_gradient(const double* g, Complex* out) {
  gather(g);
  product_with_u();
  for (Index q = 0; q < w_; ++q) {
    const double* re = turned_.data() + planes_ * q * stride_;
    const double* im = re + stride_;
    for (Index a = 0; a < n_; ++a) {
      for (Index i = 0; i < n_; ++i, ++out)
        *out -= Complex(re[i * n_ + a], real_ ? 0.0 : im[i * n_ + a]);
    }
  }
}

/// 𝕡 = Σ_q u_q u_q†, its real plane.
void SymbolChannel::outer() {
  PanelProduct product{.rows = padded_rows(size_), .depth = planes_ * w_, .cols = size_};
  product.left = u_.data();
  product.left_stride = product.depth_step = product.out_stride = stride_;
  product.right = u_.data();
  product.col_step = 1;
  product.out = re_.data();
  kernel_(product);
}

/// Its imaginary plane: Σ_q Im u(row) Re u(col) − Re u(row) Im u(col)
void SymbolChannel::outer_im() {
  for (Index q = 0; q < w_; ++q) {
    const double* re = u_.data() + 2 * q * stride_;
    double* first = turned_.data() + 2 * q * stride_;
    for (Index k = 0; k < size_; ++k) {
      first[k] = re[stride_ + k];
      first[stride_ + k] = -re[k];
    }
  }
  PanelProduct product{.rows = padded_rows(size_), .depth = 2 * w_, .cols = size_};
  product.left = u_.data();
  product.left_stride = product.depth_step = product.out_stride = stride_;
  product.right = turned_.data();
  product.col_step = 1;
  product.out = im_.data();
  kernel_(product);
}

void SymbolChannel::write_diagonal(Index i, double* column) const {
  const HermitianCoordinates to(n_);
  for (Index a = 0; a < n_; ++a) {
    const double* re = re_.data() + at(i, a, i, 0);
    const double* im = im_.data() + at(i, a, i, 0);
    column[a] = re[a];
    double* to_re = column + to.re(a, 0);
    double* to_im = column + to.im(a, 0);
    for (Index b = a + 1; b < n_; ++b) {
      to_re[b] = kRoot2 * re[b];
      to_im[b] = kRoot2 * im[b];
    }
  }
}

/// The images of the basis matrices of Re H_ij and of Im H_ij.
void SymbolChannel::write_pair(Index i, Index j, double* of_re, double* of_im) const {
  const HermitianCoordinates to(n_);
  for (Index a = 0; a < n_; ++a) {
    const double* re_ij = re_.data() + at(i, a, j, 0);
    const double* im_ij = im_.data() + at(i, a, j, 0);
    const double* re_ji = re_.data() + at(j, a, i, 0);
    const double* im_ji = im_.data() + at(j, a, i, 0);
    of_re[a] = kRoot2 * re_ij[a];
    of_im[a] = -kRoot2 * im_ij[a];
    const Index re = to.re(a, 0);
    const Index im = to.im(a, 0);
    for (Index b = a + 1; b < n_; ++b) {
      of_re[re + b] = re_ij[b] + re_ji[b];
      of_re[im + b] = im_ij[b] + im_ji[b];
      of_im[re + b] = im_ji[b] - im_ij[b];
      of_im[im + b] = re_ij[b] - re_ji[b];
    }
  }
}

/// The image of the basis matrix of H_ij, i ≤ j, in the real coordinates.
void SymbolChannel::write_real_column(Index i, Index j, double* column) const {
  const HermitianCoordinates to(n_);
  for (Index a = 0; a < n_; ++a) {
    const double* ij = re_.data() + at(i, a, j, 0);
    const double* ji = re_.data() + at(j, a, i, 0);
    column[a] = (i == j ? 1.0 : kRoot2) * ij[a];
    double* out = column + to.re(a, 0);
    if (i == j) {
      for (Index b = a + 1; b < n_; ++b) out[b] = kRoot2 * ij[b];
    } else {
      for (Index b = a + 1; b < n_; ++b) out[b] = ij[b] + ji[b];
    }
  }
}

/// S = D + D†, D the gradient by 𝕡 of everything written above.
void SymbolChannel::gather(const double* g) {
  const HermitianCoordinates from(n_);
  for (Index i = 0; i < n_; ++i) {
    if (real_) {
      for (Index j = i; j < n_; ++j)
        gather_real_column(i, j, g + (j == i ? i : from.re(i, j)) * out_stride_);
      continue;
    }
    gather_diagonal(i, g + i * out_stride_);
    for (Index j = i + 1; j < n_; ++j)
      gather_pair(i, j, g + from.re(i, j) * out_stride_, g + from.im(i, j) * out_stride_);
  }
}

void SymbolChannel::put(Index i, Index a, Index j, Index b, double re, double im) {
  double* to_re = re_.data();
  double* to_im = im_.data();
  to_re[at(i, a, j, b)] = to_re[at(j, b, i, a)] = re;
  to_im[at(i, a, j, b)] = im;
  to_im[at(j, b, i, a)] = -im;
}

void SymbolChannel::gather_diagonal(Index i, const double* column) {
  const HermitianCoordinates from(n_);
  for (Index a = 0; a < n_; ++a) {
    put(i, a, i, a, 2.0 * column[a], 0.0);
    for (Index b = a + 1; b < n_; ++b)
      put(i, a, i, b, kRoot2 * column[from.re(a, b)], kRoot2 * column[from.im(a, b)]);
  }
}

void SymbolChannel::gather_pair(Index i, Index j, const double* of_re, const double* of_im) {
  const HermitianCoordinates from(n_);
  for (Index a = 0; a < n_; ++a) {
    put(i, a, j, a, kRoot2 * of_re[a], -kRoot2 * of_im[a]);
    const Index re = from.re(a, 0);
    const Index im = from.im(a, 0);
    for (Index b = a + 1; b < n_; ++b) {
      put(i, a, j, b, of_re[re + b] + of_im[im + b], of_re[im + b] - of_im[re + b]);
      put(j, a, i, b, of_re[re + b] - of_im[im + b], of_re[im + b] + of_im[re + b]);
    }
  }
}

void SymbolChannel::gather_real_column(Index i, Index j, const double* column) {
  const HermitianCoordinates from(n_);
  double* to = re_.data();
  for (Index a = 0; a < n_; ++a) {
    to[at(i, a, j, a)] = to[at(j, a, i, a)] = (i == j ? 2.0 : kRoot2) * column[a];
    for (Index b = a + 1; b < n_; ++b) {
      const double value = (i == j ? kRoot2 : 1.0) * column[from.re(a, b)];
      to[at(i, a, j, b)] = to[at(j, b, i, a)] = value;
      to[at(j, a, i, b)] = to[at(i, b, j, a)] = value;
    }
  }
}

/// S u_q for every q. S is stored transposed, that is conjugated: S u = conj(Sᵀ conj(u)).
void SymbolChannel::product_with_u() {
  PanelProduct product{.rows = padded_rows(size_), .depth = size_, .cols = planes_ * w_};
  product.left_stride = product.col_step = product.out_stride = stride_;
  product.right = u_.data();
  product.left = re_.data();
  product.out = turned_.data();
  kernel_(product);
  if (real_) return;
  product.left = im_.data();
  product.out = by_im_.data();
  kernel_(product);
  for (Index q = 0; q < w_; ++q) {
    double* re = turned_.data() + 2 * q * stride_;
    double* im = re + stride_;
    const double* im_re = by_im_.data() + 2 * q * stride_;
    const double* im_im = im_re + stride_;
    for (Index k = 0; k < size_; ++k) {
      re[k] += im_im[k];
      im[k] -= im_re[k];
    }
  }
}

}  // namespace hqmm::detail
