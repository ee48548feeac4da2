// StateChannel: emission on states in the coordinates of model/hermitian_basis.hpp. All symbols of
// a set share the channel of V; a symbol then scales the coordinates by its factors e_y: D_y H D_y
// has c_i² on the diagonal and c_a c_b beside it.
#pragma once

#include "hqmm/engine/quantum/symbol_channel.hpp"
#include "hqmm/model/kraus.hpp"

namespace hqmm::detail {

class StateChannel {
 public:
  StateChannel(Index n, Index w, bool real, SymbolScratch& scratch);

  void load(const KrausSet& set);
  /// Of V, columns stride() apart.
  [[nodiscard]] const double* matrix() const { return matrix_.data(); }
  [[nodiscard]] std::size_t matrix_size() const { return matrix_.size(); }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index stride() const { return stride_; }

  /// e_y, and their sum over all symbols.
  [[nodiscard]] RealVector factors(Index y) const;
  [[nodiscard]] RealVector unseen_factors() const;
  /// ∂loss by V from ∂ℓ by the matrix, and by row y of C from ∂ℓ by e_y: both are added.
  void add_by_matrix(const double* g, Stack& by_v) { channel_.add_gradient(g, by_v.data()); }
  void add_by_factors(Index y, const RealVector& by_factor, RealMatrix& by_c) const;

 private:
  Index n_, rows_, stride_;
  SymbolChannel channel_;
  AlignedDoubles matrix_;
  const KrausSet* set_ = nullptr;
};

}  // namespace hqmm::detail
