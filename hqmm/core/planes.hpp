// The product of complex matrices that the Kraus and the factor form use, by planes of reals:
//
//   C[:, c] (+)= Σ_k L[:, k] · B(k, c)        L: rows × depth, column-major
//
// in three real products instead of four. With a = Re L, b = Im L, c = Re B, d = Im B and the sum
// s = c + d kept beside B,
//
//   P₁ = a c,  P₂ = b d,  P₃ = (a + b) s;     Re = P₁ − P₂,  Im = P₃ − P₁ − P₂.
//
// All three stay in registers until they are put together. The error is that of the plain product
// in the norm of C; a small imaginary part next to a large real one is known less precisely.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

struct PlaneProduct {
  Index rows = 0;   // of L and C; a multiple of kRowUnit (panels.hpp)
  Index depth = 0;  // columns of L
  Index cols = 0;   // of B and C
  const double* left = nullptr;
  Index left_stride = 0;
  Index left_plane = 0;           // from real to imaginary parts
  const double* right = nullptr;  // Re B(k, c) = right[k·depth_step + c·col_step]
  Index depth_step = 1;
  Index col_step = 0;
  Index right_plane = 0;  // to imaginary parts, and from there to the sums
  double* out = nullptr;
  Index out_stride = 0;
  Index out_plane = 0;
  bool add = false;        // C += instead of C =
  bool sums = false;       // write the plane of sums as well
  bool lower = false;      // only blocks of kRowUnit on and below the diagonal need be right
  bool conjugate = false;  // of L
};

struct PlaneKernels {
  void (*multiply)(const PlaneProduct&);
  /// What is above the diagonal of a Hermitian n × n matrix from what is below: columns of real
  /// parts, then imaginary parts `plane` further on. The result is Hermitian to the last bit: a
  /// lower half whose imaginary diagonal only nearly vanishes would feed on its own rounding.
  void (*mirror)(double* x, Index n, Index stride, Index plane);
  /// Products of so many rows and columns at most are right above the diagonal, too: a vector of
  /// rows crosses it.
  Index whole = 0;
};

/// For this processor, within HQMM_SIMD.
[[nodiscard]] const PlaneKernels& plane_kernels();

}  // namespace hqmm::detail
