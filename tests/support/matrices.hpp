// Matrices in the tests, compiled once: random ones, decompositions to compare with, products and
// distances.
#pragma once

#include "hqmm/core/random.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/stiefel/square.hpp"

namespace hqmm::detail::testing {

Stack gaussian(Index rows, Index cols, RandomStream& random);

/// Gaussian, of norm one.
Stack random_direction(Index rows, Index cols, RandomStream& random);

/// Orthonormal columns; rows ≥ cols. (Up to column phases Haar: enough here.)
Stack feasible(Index rows, Index cols, RandomStream& random);

/// U diag(values) V† with random U and V; rows ≥ values.size() columns.
Stack with_singular_values(Index rows, const RealVector& values, RandomStream& random);

/// U diag(values) U† with a random U.
Matrix hermitian(const RealVector& values, RandomStream& random);

void fill(const Square& to, const Matrix& from);

/// Descending.
RealVector singular_values(const Matrix& matrix);

/// Of the Hermitian matrix with this lower triangle.
double least_eigenvalue(const Matrix& lower);

/// B with BB† = ρ, without eigenvalues that are but rounding.
Matrix square_root(const Matrix& state);

/// a⁻¹b
Matrix solve(Matrix a, Matrix b);

Matrix product(const Matrix& a, const Matrix& b);
Stack product(const Stack& a, const Matrix& b);

/// a†b
Matrix adjoint_product(const Stack& a, const Stack& b);

/// Re tr a†b
double inner(const Stack& a, const Stack& b);

/// The largest entry of |z|, and of |a − b|.
double largest_entry(const Stack& z);
double distance(const Stack& a, const Stack& b);

/// The norm of a − b.
double norm_distance(const Matrix& a, const Matrix& b);
double norm_distance(const Stack& a, const Stack& b);
double norm_distance(const RealMatrix& a, const RealMatrix& b);
double norm_distance(const RealVector& a, const RealVector& b);

/// The paper's polynomial on the tall matrix, as it is written down.
Stack naive_newton_schulz(Stack z, int steps);

/// ‖Γ†Γ − I‖ by the shortest road, independent of the code under test.
double naive_residual(const Stack& gamma);

}  // namespace hqmm::detail::testing
