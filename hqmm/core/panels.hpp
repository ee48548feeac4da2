// The product that all fast engines are built on: small real matrices by columns.
//
//   C[:, c] (+)= Σ_k L[:, k] · B(k, c)        L: rows × depth, column-major
//
// Every form of a model is brought to it. A step of the forward pass multiplies the states of all
// sequences that see the same symbol (C = R X), a step of the backward pass uses the transposed
// operator, and the gradient is one long product of rank-one terms (C += Z Xᵀ, where B is read
// transposed). States keep their columns padded to kRowUnit, so edges need no care; columns of C
// may lie anywhere, because the states of the next step are grouped by another symbol.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// Rows of L and C come in multiples of this; what pads them is zero and stays zero.
inline constexpr Index kRowUnit = 4;

constexpr Index padded_rows(Index rows) { return (rows + kRowUnit - 1) / kRowUnit * kRowUnit; }

/// Distance between columns of a matrix of so many rows: whole cache lines, so that no vector
/// straddles two, and never a power of two, which would put them all into the same few sets of the
/// cache.
constexpr Index column_stride(Index rows) {
  const Index padded = (rows + 7) / 8 * 8;
  return padded % 32 == 0 && padded >= 64 ? padded + 8 : padded;
}

struct PanelProduct {
  Index rows = 0;   // of L and C; a multiple of kRowUnit
  Index depth = 0;  // columns of L
  Index cols = 0;   // of B and C
  const double* left = nullptr;
  Index left_stride = 0;
  const double* right = nullptr;  // B(k, c) = right[k·depth_step + c·col_step]
  Index depth_step = 1;
  Index col_step = 0;
  double* out = nullptr;  // column c of C at out + c·out_stride,
  Index out_stride = 0;
  double* const* scatter = nullptr;  // or, when given, at scatter[c]
  bool add = false;                  // C += instead of C =
  bool lower = false;                // what lies above the diagonal of C need not be right
};

using PanelKernel = void (*)(const PanelProduct&);

/// The kernel for this processor, within HQMM_SIMD. Look it up once per pass, not per product.
[[nodiscard]] PanelKernel panel_kernel();

/// The same for products of so many rows and columns only: without the bookkeeping when their C
/// fits the registers.
[[nodiscard]] PanelKernel panel_kernel_for(Index rows, Index cols);

/// Σ a b over the columns of two matrices of so many rows, a multiple of kRowUnit.
using ColumnDot = double (*)(const double* a, const double* b, Index rows, Index cols,
                             Index stride);
[[nodiscard]] ColumnDot column_dot();

/// What Highway calls the target the kernels were compiled for that are in use: for tests.
[[nodiscard]] const char* panel_target();

}  // namespace hqmm::detail
