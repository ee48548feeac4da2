// Built once for each namespace of the header, HQMM_NAIVE. The native build has Eigen's own
// namespace under another name as well: one program must not mix two layouts of the same type.
#include "naive_eigen.hpp"

#include <Eigen/Core>
#include <Eigen/SVD>
#include <cmath>

namespace hqmm::bench::HQMM_NAIVE {
namespace {

using Matrix = Eigen::MatrixXcd;
using RowMajor =
    Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Pass {
  long n, w;
  std::vector<Matrix> operators;  // K[y][q] at y·w + q
  Matrix initial;
  std::vector<Matrix> gradient;
  double log_likelihood = 0.0;

  explicit Pass(const NaiveWork& work) : n(work.latent_dim), w(work.kraus_rank) {
    for (long b = 0; b < work.alphabet_size * w; ++b) {
      operators.emplace_back(Eigen::Map<const RowMajor>(work.gamma + b * n * n, n, n));
      gradient.emplace_back(Matrix::Zero(n, n));
    }
    initial = Eigen::Map<const Matrix>(work.initial, n, n);
  }

  void run(const std::vector<std::uint16_t>& symbols) {
    std::vector<Matrix> states{initial};
    std::vector<double> weights;
    for (std::size_t t = 0; t < symbols.size(); ++t) {
      Matrix next = Matrix::Zero(n, n);
      for (long b = symbols[t] * w; b < (symbols[t] + 1) * w; ++b) {
        const Matrix& k = operators[static_cast<std::size_t>(b)];
        next += k * states[t] * k.adjoint();
      }
      weights.push_back(next.trace().real());
      log_likelihood += std::log(weights[t]);
      states.push_back(next / weights[t]);
    }
    Matrix s = Matrix::Zero(n, n);
    for (std::size_t t = symbols.size(); t-- > 0;) {
      const Matrix identity = Matrix::Identity(n, n);
      const double shift = 1.0 - (s * states[t + 1]).trace().real();
      const Matrix a = (s + shift * identity) / weights[t];
      s = Matrix::Zero(n, n);
      for (long b = symbols[t] * w; b < (symbols[t] + 1) * w; ++b) {
        const Matrix& k = operators[static_cast<std::size_t>(b)];
        gradient[static_cast<std::size_t>(b)] -= 2.0 * a * k * states[t];
        s += k.adjoint() * a * k;
      }
    }
  }
};

}  // namespace

NaiveResult naive_gradient(const NaiveWork& work) {
  Pass pass(work);
  for (const std::vector<std::uint16_t>& symbols : work.batch) pass.run(symbols);
  NaiveResult out;
  out.log_likelihood = pass.log_likelihood;
  const long block = work.latent_dim * work.latent_dim;
  out.gradient.resize(pass.gradient.size() * static_cast<std::size_t>(block));
  for (std::size_t b = 0; b < pass.gradient.size(); ++b) {
    Eigen::Map<RowMajor>(out.gradient.data() + static_cast<long>(b) * block, work.latent_dim,
                         work.latent_dim) = pass.gradient[b];
  }
  return out;
}

void jacobi_polar(const std::complex<double>* z, long rows, long cols, std::complex<double>* out) {
  const Eigen::JacobiSVD<Matrix> svd(Eigen::Map<const RowMajor>(z, rows, cols),
                                     Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::Map<RowMajor>(out, rows, cols).noalias() = svd.matrixU() * svd.matrixV().adjoint();
}

}  // namespace hqmm::bench::HQMM_NAIVE
