#include "hqmm/model/total_channel.hpp"

#include <algorithm>

#include "hqmm/core/real_form.hpp"

namespace hqmm::detail {
namespace {

constexpr Index kBlock = 32;  // columns; a multiple of kRowUnit

}  // namespace

TotalChannel::TotalChannel(const KrausSet& set)
    : n_(set.latent_dim()),
      stride_(column_stride(2 * n_)),
      operators_(set.stack().rows() / n_),
      kernel_(panel_kernel()),
      matrices_(static_cast<std::size_t>(operators_ * 2 * n_ * stride_)),
      state_(static_cast<std::size_t>(n_ * stride_)),
      moved_(2 * state_.size()),
      sum_(state_.size()) {
  std::fill_n(matrices_.data(), matrices_.size(), 0.0);
  std::fill_n(state_.data(), state_.size(), 0.0);
  for (Index k = 0; k < operators_; ++k)
    write_real_form(set.stack().data() + k * n_ * n_, n_, stride_,
                    matrices_.data() + k * 2 * n_ * stride_);
  if (set.emits_on() == EmissionKind::kState)
    factors_ = set.emission().transpose() * set.emission();
}

/// The columns of Kρ, then i times them, into the scratch.
void TotalChannel::move(const double* k) const {
  PanelProduct product{.rows = padded_rows(2 * n_), .depth = 2 * n_, .cols = n_};
  product.left_stride = product.out_stride = product.col_step = stride_;
  product.left = k;
  product.right = state_.data();
  product.out = moved_.data();
  kernel_(product);
  write_i_behind(moved_.data(), n_, stride_);
}

/// Adds (Kρ)K†, as conjugate() does, but little of it above the diagonal: it is Hermitian.
void TotalChannel::add_lower_part(const double* k) const {
  for (Index begin = 0; begin < n_; begin += kBlock) {
    PanelProduct product{.depth = 2 * n_, .cols = std::min(kBlock, n_ - begin)};
    product.left_stride = product.out_stride = product.depth_step = stride_;
    product.right = k + begin;
    product.col_step = 1;
    product.add = true;
    product.rows = n_ - begin;
    for (const Index part : {Index{0}, n_}) {  // real parts, imaginary parts
      product.left = moved_.data() + part + begin;
      product.out = sum_.data() + begin * stride_ + part + begin;
      kernel_(product);
    }
  }
}

Matrix TotalChannel::apply(const Matrix& hermitian) const {
  write_columns(hermitian, stride_, state_.data());
  std::fill_n(sum_.data(), sum_.size(), 0.0);
  for (Index q = 0; q < operators_; ++q) {
    const double* k = matrices_.data() + q * 2 * n_ * stride_;
    if (n_ % kRowUnit != 0) {
      conjugate(kernel_, k, state_.data(), n_, stride_, moved_.data(), q > 0, sum_.data());
    } else {
      move(k);
      add_lower_part(k);
    }
  }
  Matrix out = read_columns(sum_.data(), n_, stride_);
  out.triangularView<Eigen::StrictlyUpper>() = out.adjoint();
  if (factors_.size() > 0) out = out.cwiseProduct(factors_.cast<Complex>());
  return out;
}

}  // namespace hqmm::detail
