#include "hqmm/model/channel.hpp"

#include <Eigen/Eigenvalues>
#include <Spectra/GenEigsSolver.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hqmm/core/error.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm {
namespace {

constexpr Index kDenseUpTo = 256;  // order of the matrix: a channel on n = 16
constexpr double kSameAsOne = 1e-9;

/// The channel as Spectra wants it: y = E x without the n² × n² matrix.
class ChannelOperator {
 public:
  using Scalar = double;
  explicit ChannelOperator(const KrausSet& set) : set_(set) {}
  [[nodiscard]] Index rows() const { return set_.latent_dim() * set_.latent_dim(); }
  [[nodiscard]] Index cols() const { return rows(); }
  void perform_op(const double* x, double* y) const {
    const RealVector in = Eigen::Map<const RealVector>(x, rows());
    Eigen::Map<RealVector>(y, rows()) = to_coordinates(set_.apply_total(from_coordinates(in)));
  }

 private:
  const KrausSet& set_;
};

std::vector<Complex> dense_eigenvalues(const RealMatrix& matrix) {
  const Eigen::EigenSolver<RealMatrix> solver(matrix, /*computeEigenvectors=*/false);
  const auto& values = solver.eigenvalues();
  return {values.data(), values.data() + values.size()};
}

std::vector<Complex> leading_eigenvalues(const KrausSet& set, std::size_t count) {
  const ChannelOperator op(set);
  const Index wanted = static_cast<Index>(std::max<std::size_t>(count, 2));
  Spectra::GenEigsSolver<ChannelOperator> solver(const_cast<ChannelOperator&>(op), wanted,
                                                 std::min(op.rows(), 4 * wanted + 20));
  solver.init();
  solver.compute(Spectra::SortRule::LargestMagn, 2000, 1e-11);
  if (solver.info() != Spectra::CompInfo::Successful) {
    throw fail(ErrorCode::kInternal, "the channel's leading eigenvalues did not converge");
  }
  const auto values = solver.eigenvalues();
  return {values.data(), values.data() + values.size()};
}

Spectrum make_spectrum(std::vector<Complex> values, std::size_t count) {
  // By modulus, then phase: a fixed order for conjugate pairs and for ties up to rounding.
  std::sort(values.begin(), values.end(), [](Complex a, Complex b) {
    const double difference = std::abs(a) - std::abs(b);
    if (std::abs(difference) > 1e-12) return difference > 0.0;
    return std::abs(std::arg(a)) != std::abs(std::arg(b)) ? std::abs(std::arg(a)) < std::abs(std::arg(b))
                                                          : std::arg(a) > std::arg(b);
  });
  const double largest = std::abs(values.front());
  if (largest > 0.0 && std::abs(largest - 1.0) > kSameAsOne) {
    for (Complex& value : values) value /= largest;
  }
  Spectrum out;
  out.mixing_rate = values.size() > 1 ? std::abs(values[1]) : 0.0;
  out.unique_fixed_point = std::count_if(values.begin(), values.end(), [](Complex z) {
                             return std::abs(z - 1.0) < kSameAsOne;
                           }) <= 1;
  values.resize(std::min(values.size(), count));
  out.eigenvalues = std::move(values);
  return out;
}

/// Limit of the lazy channel's powers on a start state: F = (1 + E)/2 keeps only the eigenvalue 1, and
/// squaring it k times takes 2^k steps. Scaled to trace one against drift.
template <typename TraceOf>
RealVector dense_fixed_point(const RealMatrix& channel, const RealVector& start, TraceOf trace_of) {
  RealMatrix lazy = 0.5 * (channel + RealMatrix::Identity(channel.rows(), channel.cols()));
  RealVector state = start;
  for (int k = 0; k < 40; ++k) {
    RealVector next = lazy * state;
    next /= trace_of(next);
    const double moved = (next - state).norm();
    state = std::move(next);
    if (k > 4 && moved < 1e-16) break;
    const RealMatrix squared = lazy * lazy;
    lazy = squared / trace_of(RealVector(squared * start));
  }
  return state;
}

double entropy(std::span<const double> distribution) {
  double sum = 0.0;
  for (const double p : distribution) {
    if (p > 0.0) sum -= p * std::log(p);
  }
  return sum;
}

template <typename Model, typename State>
EntropyRate estimate_entropy_rate(const Model& model, const State& stationary, double cost_per_symbol,
                                  const EntropyOptions& options) {
  constexpr std::size_t kSequences = 32;
  constexpr std::size_t kWarmUp = 50;  // from the mean state to a typical filtered one
  const double affordable = 4e8 / std::max(cost_per_symbol, 1.0);
  const auto total = options.symbols > 0
                         ? options.symbols
                         : static_cast<std::uint64_t>(std::clamp(affordable, 0x1p11, 0x1p16));
  const std::size_t length = std::max<std::size_t>(total / kSequences, 1);
  std::vector<double> means(kSequences);
  parallel_for(kSequences, options.threads, [&](std::size_t i) {
    auto filter = make_filter(model);
    filter.restart(kWarmUp + length);
    filter.set_state(stationary);
    RandomStream random(options.seed, Purpose::kEntropy, i);
    std::vector<double> distribution(filter.alphabet_size());
    double sum = 0.0;
    for (std::size_t t = 0; t < kWarmUp + length; ++t) {
      filter.next_distribution(distribution);
      if (t >= kWarmUp) sum += entropy(distribution);
      filter.step(static_cast<Symbol>(random.categorical(distribution)));
    }
    means[i] = sum / static_cast<double>(length);
  });
  EntropyRate out;
  for (const double mean : means) out.nats += mean / kSequences;
  double squares = 0.0;
  for (const double mean : means) squares += (mean - out.nats) * (mean - out.nats);
  out.standard_error = std::sqrt(squares / (kSequences - 1) / kSequences);
  out.symbols = kSequences * length;
  return out;
}

}  // namespace

double period_of(Complex eigenvalue) {
  const double phase = std::abs(std::arg(eigenvalue));
  return phase < 1e-12 ? std::numeric_limits<double>::infinity() : 2.0 * std::numbers::pi / phase;
}

Spectrum channel_spectrum(const KrausSet& set, std::size_t count) {
  const Index order = set.latent_dim() * set.latent_dim();
  return make_spectrum(order <= kDenseUpTo ? dense_eigenvalues(total_channel_matrix(set))
                                           : leading_eigenvalues(set, count),
                       count);
}

Spectrum channel_spectrum(const Hmm& model, std::size_t count) {
  return make_spectrum(dense_eigenvalues(model.transition), count);
}

FixedPoint channel_fixed_point(const KrausSet& set) {
  const Index n = set.latent_dim();
  FixedPoint out;
  if (n * n <= kDenseUpTo) {
    const auto trace_of = [n](const RealVector& x) { return x.head(n).sum(); };
    out.state = from_coordinates(
        dense_fixed_point(total_channel_matrix(set), to_coordinates(maximally_mixed(n)), trace_of));
  } else {
    out.state = maximally_mixed(n);
    double moved = 1.0;
    for (int k = 0; k < 20000 && moved > 1e-14; ++k) {
      Matrix next = set.apply_total(out.state);
      next /= next.trace().real();
      moved = (next - out.state).norm();
      out.state = 0.5 * (out.state + next);
    }
  }
  const Matrix next = set.apply_total(out.state);
  out.residual = (next / next.trace().real() - out.state).norm();
  return out;
}

FixedPoint channel_fixed_point(const Hmm& model) {
  const Index n = model.latent_dim();
  const RealVector uniform = RealVector::Constant(n, 1.0 / static_cast<double>(n));
  const RealVector x =
      dense_fixed_point(model.transition, uniform, [](const RealVector& v) { return v.sum(); });
  return {x.cast<Complex>().asDiagonal().toDenseMatrix(), (model.transition * x - x).norm()};
}

EntropyRate entropy_rate(const Hqmm& stationary, const EntropyOptions& options) {
  const auto n = static_cast<double>(stationary.latent_dim());
  const double cost = 16.0 * static_cast<double>(stationary.kraus_rank()) * n * n * n +
                      8.0 * static_cast<double>(stationary.alphabet_size()) * n * n;
  return estimate_entropy_rate(stationary, channel_fixed_point(stationary.sets.back()).state, cost,
                               options);
}

EntropyRate entropy_rate(const Hmm& model, const EntropyOptions& options) {
  const auto n = static_cast<double>(model.latent_dim());
  const double cost = 2.0 * n * (n + static_cast<double>(model.alphabet_size()));
  const RealVector start = channel_fixed_point(model).state.diagonal().real();
  return estimate_entropy_rate(model, start, cost, options);
}

}  // namespace hqmm
