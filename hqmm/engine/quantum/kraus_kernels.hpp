// The loops of the Kraus form beside its products: over the entries of matrices of columns, whose
// rows are padded to kRowUnit.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

struct Columns {
  Index rows = 0;  // padded
  Index cols = 0;
  Index stride = 0;
};

/// A matrix whose columns are `stride` apart.
struct StridedMatrix {
  const double* values = nullptr;
  Index stride = 0;
};

struct KrausKernels {
  /// Column j of `to` is that of `from` times c[j].
  void (*scale_columns)(const Columns& shape, const double* from, const double* c, double* to);
  /// Entry (i, j) times rows[i] · c[j]; where `lower`, those on and below the diagonal at least.
  void (*scale_entries)(const Columns& shape, const double* rows, const double* c, bool lower,
                        double* x);
  /// by_matrix += diag(c) · sums;  by_c[i] += the product of row i of v with row i of sums.
  void (*fold)(const Columns& shape, const double* sums, const double* v, const double* c,
               double* by_matrix, double* by_c);
  /// Of complex ones, sums transposed and v† by columns, imaginary parts shape.rows below real
  /// ones: column i of by_matrix += c[i] times that of sums;  by_c[i] += Re of the product of the
  /// columns.
  void (*fold_planes)(const Columns& shape, const double* sums, const StridedMatrix& adjoint,
                      const double* c, double* by_matrix, double* by_c);
};

/// For this processor, within HQMM_SIMD.
[[nodiscard]] const KrausKernels& kraus_kernels();

}  // namespace hqmm::detail
