// The yardsticks of the speed-ups, in plain dynamic-size Eigen as one writes it first: the adjoint
// pass (MatrixXcd, products as in the formula, every step normalised) and the polar factor by
// JacobiSVD.
//
// Compiled twice: `portable` with the flags of the library, `native` with -march=native, which is
// what somebody would do who wrote this for one machine. The bars are held against `native`.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace hqmm::bench {

/// Nothing of Eigen in here: the two compilations do not share its types.
struct NaiveWork {
  long alphabet_size = 0, kraus_rank = 0, latent_dim = 0;
  const std::complex<double>* gamma = nullptr;    // (s·w·n) × n, row-major
  const std::complex<double>* initial = nullptr;  // n × n, column-major
  std::span<const std::vector<std::uint16_t>> batch;
};

struct NaiveResult {
  double log_likelihood = 0.0;
  std::vector<std::complex<double>> gradient;  // like gamma
};

namespace portable {
[[nodiscard]] NaiveResult naive_gradient(const NaiveWork& work);
/// Of z, rows × cols, row-major; out is like it.
void jacobi_polar(const std::complex<double>* z, long rows, long cols, std::complex<double>* out);
}  // namespace portable

namespace native {
[[nodiscard]] NaiveResult naive_gradient(const NaiveWork& work);
void jacobi_polar(const std::complex<double>* z, long rows, long cols, std::complex<double>* out);
}  // namespace native

}  // namespace hqmm::bench
