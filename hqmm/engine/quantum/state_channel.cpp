#include "hqmm/engine/quantum/state_channel.hpp"

#include <algorithm>

#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm::detail {

StateChannel::StateChannel(Index n, Index w, bool real, SymbolScratch& scratch)
    : n_(n),
      rows_(coordinate_count(n, real)),
      stride_(column_stride(rows_)),
      channel_(n, w, real, scratch),
      matrix_(static_cast<std::size_t>(rows_ * stride_)) {
  std::fill_n(matrix_.data(), matrix_.size(), 0.0);  // padding is multiplied along
}

void StateChannel::load(const KrausSet& set) {
  set_ = &set;
  channel_.load(set.transition().data());
  channel_.write_operator(matrix_.data());
}

RealVector StateChannel::factors(Index y) const {
  const auto c = set_->emission().row(y);
  const HermitianCoordinates at(n_);
  RealVector out(rows_);
  for (Index a = 0; a < n_; ++a) {
    out(a) = c(a) * c(a);
    for (Index b = a + 1; b < n_; ++b) {
      out(at.re(a, b)) = c(a) * c(b);
      if (at.im(a, b) < rows_) out(at.im(a, b)) = c(a) * c(b);
    }
  }
  return out;
}

RealVector StateChannel::unseen_factors() const {
  RealVector out = RealVector::Zero(rows_);
  for (Index y = 0; y < set_->alphabet_size(); ++y) out += factors(y);
  return out;
}

void StateChannel::add_by_factors(Index y, const RealVector& by_factor, RealMatrix& by_c) const {
  const auto c = set_->emission().row(y);
  const HermitianCoordinates at(n_);
  for (Index a = 0; a < n_; ++a) {
    by_c(y, a) -= 2.0 * c(a) * by_factor(a);
    for (Index b = a + 1; b < n_; ++b) {
      double by = by_factor(at.re(a, b));
      if (at.im(a, b) < rows_) by += by_factor(at.im(a, b));
      by_c(y, a) -= c(b) * by;
      by_c(y, b) -= c(a) * by;
    }
  }
}

}  // namespace hqmm::detail
