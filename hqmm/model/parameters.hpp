// The free parameters of a model: the dimension of the family of processes that it belongs to.
// Sizes are compared by this number.
//
// An HQMM's Γ has 2·s·w·n² real entries, of which Γ†Γ = I takes n² away. What is left contains
// directions that change no probability:
//
//   n² − 1   a unitary change of basis, K ↦ U K U†, whose phase does nothing anyway
//   s·w²     a unitary mixing of the w operators of a symbol, K[y][q] ↦ Σ_r V^y_qr K[y][r]; beyond
//            w = n² operators are linearly dependent and say nothing new: w counts as min(w, n²)
//
//   A = s(2wn² − w²) − 2n² + 1, and the parameters of the initial state where that is learned
//
// Whatever the operators, 𝒦_y is one real D × D matrix on the D = n² coordinates of ρ, and so is
// T_y of an HMM with D = n. A process of D coordinates has s·D² entries and an initial state of D;
// D are taken by the normalisation of the step, 1 by that of the initial state, and D² − D by
// changes of basis that leave the trace alone:
//
//   B = (s−1)D² + D − 1
//
// The other kinds of HQMM (model/kraus.hpp), with m the real dimensions of a Hermitian matrix, n²
// or n(n+1)/2 for a real one, that is D:
//
//   real, on edges       A = s·w·n² − D − n(n−1)/2 − s·w(w−1)/2        orthogonal bases and mixings
//   real, on states      A = w·n² − D + (s−1)n − w(w−1)/2              no basis left but its signs
//   complex, on states   A = 2w·n² − D + (s−1)n − (n−1) − w²           or its phases
//
// and on states the process is one D × D matrix and C. Coordinates off the diagonal may be scaled,
// real and imaginary part of an entry together by any 2 × 2 matrix:
//
//   B = D² − D + (s−1)n − n(n−1)/2,  or − 2n(n−1) for complex ones
//
// When the operators are many, changes of basis that are not unitary keep all maps completely
// positive, and B is the smaller number. The dimension is min(A, B):
// tests/model/parameters_test.cpp compares it with the rank of the Jacobian of the probabilities.
#pragma once

#include "hqmm/core/export.hpp"
#include "hqmm/model/any_model.hpp"

namespace HQMM_API hqmm {

/// The initial state of an HQMM counts as no parameters if it is I/n, as 2n−2 if it is pure,
/// otherwise as n²−1; in a real model as n−1 and n(n+1)/2−1. A position-dependent HQMM counts
/// every set, which is an upper bound.
[[nodiscard]] std::size_t parameter_count(const AnyModel& model);

}  // namespace hqmm
