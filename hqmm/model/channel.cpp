#include "hqmm/model/channel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/error.hpp"
#include "hqmm/core/krylov.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/hermitian_basis.hpp"

namespace hqmm {
namespace {

constexpr Index kDenseUpTo = 256;  // order of the matrix: a channel on n = 16
constexpr double kSameAsOne = 1e-9;

/// The same channel up to a factor, so that nothing below depends on the scale of an infeasible
/// one.
KrausSet of_unit_weight(KrausSet set) {
  const double norm = set.gamma().stableNorm();
  if (!(norm > 0.0)) throw fail(ErrorCode::kBadData, "the Kraus operators are all zero");
  if (set.feasibility_residual() > kFeasibleTolerance) {
    set.gamma() *= std::sqrt(static_cast<double>(set.latent_dim())) / norm;
  }
  return set;
}

/// x ↦ (E − λ ρ tr) x without the n² × n² matrix. With ρ an eigenvector of trace one this moves its
/// eigenvalue λ to zero and no other (Wielandt).
LinearMap channel_map(const KrausSet& set, double eigenvalue = 0.0, const Matrix& state = {}) {
  const Index n = set.latent_dim();
  const RealVector moved = eigenvalue * (state.size() > 0 ? to_coordinates(state) : RealVector());
  return {n * n, [&set, n, moved](const double* x, double* y) {
            const RealVector in = Eigen::Map<const RealVector>(x, n * n);
            Eigen::Map<RealVector> out(y, n * n);
            out = to_coordinates(set.apply_total(from_coordinates(in)));
            if (moved.size() > 0) out -= in.head(n).sum() * moved;
          }};
}

std::vector<Complex> dense_eigenvalues(const RealMatrix& matrix) {
  auto values = eigenvalues(matrix);
  if (!values) {
    throw fail(ErrorCode::kInternal, "the eigenvalues of the channel did not converge");
  }
  return std::move(*values);
}

/// The largest eigenvalue belongs to the fixed point. Krylov spaces hold one vector of each
/// eigenspace, so a second eigenvalue 1 is looked for with the first one out of the way.
std::vector<Complex> leading_eigenvalues(const KrausSet& set, std::size_t count) {
  const Matrix state = channel_fixed_point(set).state;
  const double largest = set.apply_total(state).trace().real();
  const LinearMap rest = channel_map(set, largest, state);
  KrylovOptions options;
  options.wanted = std::clamp(static_cast<Index>(count), Index{2}, rest.order - 2);
  options.space = std::min(rest.order, 4 * options.wanted + 20);
  options.tolerance = 1e-11;
  const auto found = leading_eigen(rest, Leading::kLargestModulus, options);
  if (!found) {
    throw fail(ErrorCode::kInternal, "the leading eigenvalues of the channel did not converge");
  }
  std::vector<Complex> values{largest};
  values.insert(values.end(), found->values.begin(), found->values.end());
  return values;
}

Spectrum make_spectrum(std::vector<Complex> values, std::size_t count) {
  double largest = 0.0;
  for (const Complex value : values) largest = std::max(largest, std::abs(value));
  if (!(largest > 0.0)) {
    throw fail(ErrorCode::kBadData, "the channel annihilates every state sooner or later");
  }
  if (std::abs(largest - 1.0) > kSameAsOne) {
    for (Complex& value : values) value /= largest;
  }
  // By modulus, then phase: a fixed order for conjugate pairs and for ties up to rounding. Moduli
  // are compared on a grid, for "equal up to a tolerance" is no order.
  const auto key = [](Complex z) {
    const double phase = std::arg(z);
    return std::tuple(-std::llround(std::abs(z) * 1e11), std::abs(phase), -phase);
  };
  std::sort(values.begin(), values.end(), [&](Complex a, Complex b) { return key(a) < key(b); });
  Spectrum out;
  out.mixing_rate = values.size() > 1 ? std::abs(values[1]) : 0.0;
  out.unique_fixed_point = std::count_if(values.begin(), values.end(), [](Complex z) {
                             return std::abs(z - 1.0) < kSameAsOne;
                           }) <= 1;
  values.resize(std::min(values.size(), count));
  out.eigenvalues = std::move(values);
  return out;
}

/// Limit of the lazy channel's powers on a start state: F = (1 + E)/2 keeps only the eigenvalue 1,
/// and squaring it k times takes 2^k steps. Scaled to trace one against drift. Once the state
/// stands still one more squaring makes it exact; any further and, where several states are fixed,
/// rounding would shift the weights between them.
template <typename TraceOf>
RealVector dense_fixed_point(const RealMatrix& channel, const RealVector& start, TraceOf trace_of) {
  RealMatrix lazy = 0.5 * (channel + RealMatrix::Identity(channel.rows(), channel.cols()));
  RealVector state = start;
  bool stood_still = false;
  for (int k = 0; k < 40; ++k) {
    state = lazy * state;
    state /= trace_of(state);
    if (stood_still) break;
    const RealVector next = channel * state;
    stood_still = (next / trace_of(next) - state).norm() < 1e-15;
    const RealMatrix squared = lazy * lazy;
    lazy = squared / trace_of(RealVector(squared * start));
  }
  return state;
}

/// The same for large n. The Krylov space of I/n meets the eigenspace of 1, the rightmost
/// eigenvalue, in the limit wanted and nothing else.
Matrix krylov_fixed_point(const KrausSet& set) {
  const Index n = set.latent_dim();
  Matrix state = maximally_mixed(n);
  const auto step = [&set](const Matrix& from) {
    const Matrix to = set.apply_total(from);
    return Matrix(to / to.trace().real());
  };
  if ((step(state) - state).norm() < 1e-15) return state;
  const RealVector start = to_coordinates(state);
  const KrylovOptions options{1, std::min<Index>(n * n, 40), 1e-14, start.data()};
  if (const auto eigen = leading_eigen(channel_map(set), Leading::kLargestReal, options)) {
    const Vector found = eigen->vectors.col(0);
    return from_coordinates((found / found.head(n).sum()).real());
  }
  for (int k = 0; k < 20000; ++k) {
    const Matrix next = step(state);
    const double moved = (next - state).norm();
    state = 0.5 * (state + next);
    if (moved < 1e-14) break;
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
EntropyRate estimate_entropy_rate(const Model& model, const State& stationary,
                                  double cost_per_symbol, const EntropyOptions& options) {
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

FixedPoint stochastic_fixed_point(const RealMatrix& transition) {
  const Index n = transition.rows();
  const RealVector uniform = RealVector::Constant(n, 1.0 / static_cast<double>(n));
  const RealVector x =
      dense_fixed_point(transition, uniform, [](const RealVector& v) { return v.sum(); });
  return {x.cast<Complex>().asDiagonal().toDenseMatrix(), (transition * x - x).norm()};
}

}  // namespace

double period_of(Complex eigenvalue) {
  const double phase = std::abs(std::arg(eigenvalue));
  return phase < 1e-12 ? std::numeric_limits<double>::infinity() : 2.0 * std::numbers::pi / phase;
}

Spectrum channel_spectrum(const KrausSet& given, std::size_t count) {
  const KrausSet set = of_unit_weight(given);
  const Index order = set.latent_dim() * set.latent_dim();
  return make_spectrum(order <= kDenseUpTo ? dense_eigenvalues(total_channel_matrix(set))
                                           : leading_eigenvalues(set, count),
                       count);
}

Spectrum channel_spectrum(const Hmm& model, std::size_t count) {
  return make_spectrum(dense_eigenvalues(model.transition), count);
}

Spectrum channel_spectrum(const EdgeHmm& model, std::size_t count) {
  return make_spectrum(dense_eigenvalues(model.transition()), count);
}

FixedPoint channel_fixed_point(const KrausSet& given) {
  const KrausSet set = of_unit_weight(given);
  const Index n = set.latent_dim();
  FixedPoint out;
  if (n * n <= kDenseUpTo) {
    const auto trace_of = [n](const RealVector& x) { return x.head(n).sum(); };
    out.state = from_coordinates(
        dense_fixed_point(total_channel_matrix(set), to_coordinates(maximally_mixed(n)), trace_of));
  } else {
    out.state = krylov_fixed_point(set);
  }
  const Matrix next = set.apply_total(out.state);
  const double weight = next.trace().real();
  if (!(weight > 1e-10)) {  // I/n has weight 1; a nilpotent channel is approached slowly
    throw fail(ErrorCode::kBadData, "the channel annihilates every state sooner or later");
  }
  out.residual = (next / weight - out.state).norm();
  return out;
}

FixedPoint channel_fixed_point(const Hmm& model) {
  return stochastic_fixed_point(model.transition);
}

FixedPoint channel_fixed_point(const EdgeHmm& model) {
  return stochastic_fixed_point(model.transition());
}

EntropyRate entropy_rate(const Hqmm& model, const EntropyOptions& options) {
  if (!model.positions.stationary()) {
    throw fail(ErrorCode::kUsage,
               "only a model with one Kraus set for all positions has an entropy rate");
  }
  const auto n = static_cast<double>(model.latent_dim());
  const double cost = 16.0 * static_cast<double>(model.kraus_rank()) * n * n * n +
                      8.0 * static_cast<double>(model.alphabet_size()) * n * n;
  const KrausSet& set = model.sets[model.positions.entries().front()];
  return estimate_entropy_rate(model, channel_fixed_point(set).state, cost, options);
}

EntropyRate entropy_rate(const Hmm& model, const EntropyOptions& options) {
  const auto n = static_cast<double>(model.latent_dim());
  const double cost = 2.0 * n * (n + static_cast<double>(model.alphabet_size()));
  const RealVector start = channel_fixed_point(model).state.diagonal().real();
  return estimate_entropy_rate(model, start, cost, options);
}

EntropyRate entropy_rate(const EdgeHmm& model, const EntropyOptions& options) {
  const auto n = static_cast<double>(model.latent_dim());
  const double cost = 2.0 * n * (n + static_cast<double>(model.alphabet_size()));
  const RealVector start = channel_fixed_point(model).state.diagonal().real();
  return estimate_entropy_rate(model, start, cost, options);
}

}  // namespace hqmm
