// Complex matrices as a real and an imaginary plane, and the one product the hot loops need.
//
//   C = AB  and  C = A†B, the latter also for the upper triangle of a Hermitian C only
//
// An update of a learner is a handful of products of n × n and p × n matrices with n of 2 to 32,
// where general complex products spend their time on anything but arithmetic. Rows are padded with
// zeros to whole vectors, so that the kernel has no edges; the widest vectors of the machine are
// picked at run time.
#pragma once

#include <vector>

#include "hqmm/core/types.hpp"

namespace hqmm {

class Planes {
 public:
  /// rows × cols, zero.
  Planes(Index rows, Index cols);
  explicit Planes(const Stack& z);

  [[nodiscard]] Index rows() const noexcept { return rows_; }
  [[nodiscard]] Index cols() const noexcept { return cols_; }
  /// Numbers from one row to the next, a multiple of 4 or 8; at least cols().
  [[nodiscard]] Index stride() const noexcept { return stride_; }
  /// rows() rounded up to whole blocks of the kernel. Padding is zero and products keep it so.
  [[nodiscard]] Index padded_rows() const noexcept { return padded_rows_; }

  [[nodiscard]] const double* re() const noexcept { return values_.data(); }
  [[nodiscard]] const double* im() const noexcept { return values_.data() + plane_size(); }
  [[nodiscard]] double* re() noexcept { return values_.data(); }
  [[nodiscard]] double* im() noexcept { return values_.data() + plane_size(); }
  /// Both planes with their padding, as one array.
  [[nodiscard]] std::vector<double>& values() noexcept { return values_; }
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }

  [[nodiscard]] Stack to_stack() const;

 private:
  [[nodiscard]] Index plane_size() const noexcept { return padded_rows_ * stride_; }

  Index rows_, cols_, padded_rows_, stride_;
  std::vector<double> values_;
};

/// C = AB. C is neither A nor B.
void multiply(const Planes& a, const Planes& b, Planes& c);
/// C = AB, known to be Hermitian: half the work, and exactly Hermitian whatever rounding did.
void multiply_hermitian(const Planes& a, const Planes& b, Planes& c);
/// C = A†B.
void multiply_adjoint(const Planes& a, const Planes& b, Planes& c);
/// C = Z†Z, exactly Hermitian.
void gram(const Planes& z, Planes& c);

/// ‖H − I‖_F
[[nodiscard]] double distance_from_identity(const Planes& h);

}  // namespace hqmm
