// The number and matrix types every layer shares.
//
// Kraus stacks are row-major so that one block of memory is at once the stack Γ, (s·w·n) × n, and
// the array (s, w, n, n) of the model file.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

using Complex = std::complex<double>;
using Index = Eigen::Index;

using Matrix = Eigen::MatrixXcd;  // column-major, dense, complex
using Stack = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RealMatrix = Eigen::MatrixXd;
using RealVector = Eigen::VectorXd;

/// One observed symbol: an index into an Alphabet, or kMissing.
using Symbol = std::uint16_t;
inline constexpr Symbol kMissing = 0xFFFF;

namespace detail {
using Vector = Eigen::VectorXcd;
inline constexpr std::size_t kMaxAlphabet = 0xFFFF;  // symbols 0 .. 65534
}  // namespace detail

}  // namespace hqmm
