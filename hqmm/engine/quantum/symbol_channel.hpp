// SymbolChannel: the channel of one symbol, or of any stack of Kraus operators, as a matrix in the
// coordinates of model/hermitian_basis.hpp, and the way back from gradients by it.
//
// With u_q the n² entries of K_q ordered (column i, row a) and 𝕡 = Σ_q u_q u_q†, an image of a
// basis matrix is read off 𝕡: P_ij[a,b] = Σ_q K[a,i] conj(K[b,j]) is 𝕡 at ((i,a), (j,b)). Backward,
// the gradient by 𝕡 is gathered as a Hermitian S and ∂ℓ/∂u_q = S u_q.
//
// Real operators move n(n+1)/2 of the coordinates, the diagonal and the real parts, among
// themselves, and 𝕡 is real.
#pragma once

#include "hqmm/core/aligned.hpp"
#include "hqmm/core/panels.hpp"
#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// Coordinates of a state.
constexpr Index coordinate_count(Index n, bool real) { return real ? n * (n + 1) / 2 : n * n; }

/// For one symbol's operators, kept between batches.
struct SymbolScratch {
  AlignedDoubles u, turned, by_im, re, im;
};

class SymbolChannel {
 public:
  SymbolChannel(Index n, Index w, bool real, SymbolScratch& scratch);

  /// w operators, one after another, row-major.
  void load(const Complex* k);
  /// Their channel into `out`, columns column_stride(coordinate_count()) apart.
  void write_operator(double* out);
  /// −2 · the gradient by operators whose channel has ∂ℓ/∂R = g, added to `out`, the rows of
  /// ∂loss/∂Γ that belong to them.
  void add_gradient(const double* g, Complex* out);

 private:
  // 𝕡 at (row (i,a), column (j,b)) is stored with (j,b) running fastest.
  [[nodiscard]] Index at(Index i, Index a, Index j, Index b) const {
    return (i * n_ + a) * stride_ + j * n_ + b;
  }
  void outer();
  void outer_im();
  void write_diagonal(Index i, double* column) const;
  void write_pair(Index i, Index j, double* of_re, double* of_im) const;
  void write_real_column(Index i, Index j, double* column) const;
  void gather(const double* g);
  void put(Index i, Index a, Index j, Index b, double re, double im);
  void gather_diagonal(Index i, const double* column);
  void gather_pair(Index i, Index j, const double* of_re, const double* of_im);
  void gather_real_column(Index i, Index j, const double* column);
  void product_with_u();

  Index n_, w_, size_, stride_;
  bool real_;
  Index planes_;      // columns of u_ per operator
  Index out_stride_;  // of the channel's matrix
  PanelKernel kernel_;
  AlignedDoubles &u_, &turned_, &by_im_, &re_, &im_;
};

}  // namespace hqmm::detail
