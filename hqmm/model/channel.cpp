#include "hqmm/model/channel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "hqmm/core/decompositions.hpp"
#include "hqmm/core/fail.hpp"
#include "hqmm/core/interruption.hpp"
#include "hqmm/core/krylov.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/model/hermitian_basis.hpp"
#include "hqmm/model/period.hpp"
#include "hqmm/model/total_channel.hpp"

namespace hqmm {
using namespace detail;
namespace {

constexpr Index kDenseUpTo = 256;   // order of the matrix: a channel on n = 16
constexpr Index kSharpUpTo = 4096;  // n = 64
constexpr double kSameAsOne = 1e-9;
// What may be spent on a large model, in floating-point operations; a core does some 1e10 a second.
constexpr double kSpectrumOperations = 3.3e11;
constexpr double kFixedPointOperations = 1e11;
constexpr double kEntropyOperations = 4e10;

/// The same channel up to a factor, so that nothing below depends on the scale of an infeasible
/// one.
KrausSet of_unit_weight(KrausSet set) {
  const double norm = set.stack().stableNorm();
  if (!(norm > 0.0)) throw fail(ErrorCode::kBadData, "the Kraus operators are all zero");
  if (set.feasibility_residual() <= kFeasibleTolerance) return set;
  const double weight = std::sqrt(static_cast<double>(set.latent_dim()));
  set.stack() *= weight / norm;
  if (set.emits_on() == EmissionKind::kState) {
    const double of_emission = set.emission().stableNorm();
    if (!(of_emission > 0.0)) throw fail(ErrorCode::kBadData, "the Kraus operators are all zero");
    set.emission() *= weight / of_emission;
  }
  return set;
}

/// How many coordinates the states of a model have. Those of real ones are the first.
Index coordinates_of(Index n, Field field) {
  return field == Field::kReal ? n * (n + 1) / 2 : n * n;
}

/// x ↦ (E − λ ρ tr) x without the matrix. With ρ an eigenvector of trace one this moves its
/// eigenvalue λ to zero and no other (Wielandt).
LinearMap channel_map(const TotalChannel& channel, Field field, double eigenvalue = 0.0,
                      const Matrix& state = {}) {
  const Index n = channel.latent_dim();
  const Index order = coordinates_of(n, field);
  const RealVector moved = eigenvalue * (state.size() > 0 ? to_coordinates(state) : RealVector());
  return {order, [&channel, n, order, moved](const double* x, double* y) {
            RealVector in = RealVector::Zero(n * n);
            in.head(order) = Eigen::Map<const RealVector>(x, order);
            Eigen::Map<RealVector> out(y, order);
            out = to_coordinates(channel.apply(from_coordinates(in))).head(order);
            if (moved.size() > 0) out -= in.head(n).sum() * moved.head(order);
          }};
}

std::vector<Complex> dense_eigenvalues(const RealMatrix& matrix) {
  auto values = eigenvalues(matrix);
  if (!values) {
    throw fail(ErrorCode::kInternal, "the eigenvalues of the channel did not converge");
  }
  return std::move(*values);
}

struct LeadingEigenvalues {
  std::vector<Complex> values;
  bool converged = false;
};

/// How often the channel can be applied for so many operations, which are counted rather than
/// timed: results must not depend on the clock.
Index affordable_products(const KrausSet& set, double operations) {
  const auto n = static_cast<double>(set.latent_dim());
  const Index operators = set.stack().rows() / set.latent_dim();
  const auto count = static_cast<double>(operators);
  return static_cast<Index>(std::clamp(operations / (16.0 * n * n * n * count), 300.0, 1e5));
}

/// The largest eigenvalue belongs to the fixed point. Krylov spaces hold one vector of each
/// eigenspace, so a second eigenvalue 1 is looked for with the first one out of the way.
LeadingEigenvalues leading_eigenvalues(const KrausSet& set, std::size_t count, const Matrix& state,
                                       Field field) {
  const double largest = set.apply_total(state).trace().real();
  const TotalChannel channel(set);
  const LinearMap rest = channel_map(channel, field, largest, state);
  KrylovOptions options;
  options.wanted = std::clamp(static_cast<Index>(count), Index{2}, rest.order - 2);
  // Many eigenvalues of a large channel lie close together: the more vectors, the fewer products.
  options.space = std::min(rest.order, 4 * options.wanted + std::min<Index>(rest.order / 16, 268));
  options.tolerance = rest.order <= kSharpUpTo ? 1e-11 : 1e-4;
  options.most_products = affordable_products(set, kSpectrumOperations);
  const auto found = leading_eigen(rest, Leading::kLargestModulus, options);
  LeadingEigenvalues out{{largest}, found && found->converged};
  if (found) out.values.insert(out.values.end(), found->values.begin(), found->values.end());
  return out;
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
  // are compared on a grid, for "equal up to a tolerance" is not an order.
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

/// The same for large n: by the channel's powers where they converge soon. Else by the Krylov space
/// of I/n, which meets the eigenspace of 1, the rightmost eigenvalue, in the limit wanted and
/// nothing else; and by the lazy channel's powers where that fails.
Matrix matrix_free_fixed_point(const KrausSet& set) {
  const TotalChannel channel(set);
  const Index n = set.latent_dim();
  const auto step = [&channel](const Matrix& from) {
    const Matrix to = channel.apply(from);
    return Matrix(to / to.trace().real());
  };
  const Matrix mixed = maximally_mixed(n);
  Matrix state = mixed;
  for (int k = 0; k < 60; ++k) {
    Matrix next = step(state);
    const double moved = (next - state).norm();
    state = std::move(next);
    if (moved < 1e-15) return state;
  }
  const Index most = affordable_products(set, kFixedPointOperations);
  const RealVector start = to_coordinates(mixed);
  const KrylovOptions options{1, std::min<Index>(n * n, 40), 1e-14, start.data(), most};
  const auto eigen =
      leading_eigen(channel_map(channel, Field::kComplex), Leading::kLargestReal, options);
  if (eigen && eigen->converged) {
    const Vector found = eigen->vectors.col(0);
    return from_coordinates((found / found.head(n).sum()).real());
  }
  state = mixed;
  for (Index k = 0; k < std::min<Index>(most, 20000); ++k) {
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

/// How many symbols to sample, in how many sequences.
struct EntropySample {
  std::size_t sequences = 32;
  std::size_t warm_up = 50;  // from the mean state to a typical filtered one
  std::size_t length = 1;    // of a sequence, after that
};

/// About a second's worth, told from the operations: 2^11 to 2^16 symbols, and fewer where even
/// they would take long.
EntropySample plan_entropy(double cost_per_symbol, std::uint64_t symbols) {
  EntropySample out;
  const double cost = std::max(cost_per_symbol, 1.0);
  const auto total = static_cast<std::size_t>(symbols > 0 ? static_cast<double>(symbols)
                                                          : std::clamp(4e8 / cost, 0x1p11, 0x1p16));
  out.length = std::max<std::size_t>(total / out.sequences, 1);
  const double steps = static_cast<double>(out.sequences * (out.warm_up + out.length));
  if (symbols > 0 || steps * cost <= kEntropyOperations) return out;
  out.sequences = 8;
  const auto each = static_cast<std::size_t>(kEntropyOperations / cost / 8.0);
  out.warm_up = std::clamp<std::size_t>(each / 3, 5, 50);
  out.length = std::clamp<std::size_t>(each - std::min(each, out.warm_up), 10, out.length * 4);
  return out;
}

template <typename Model, typename State>
EntropyRate estimate_entropy_rate(const Model& model, const State& stationary,
                                  double cost_per_symbol, const EntropyOptions& options) {
  const EntropySample plan = plan_entropy(cost_per_symbol, options.symbols);
  std::vector<double> means(plan.sequences);
  parallel_for(plan.sequences, options.threads, [&](std::size_t i) {
    auto filter = make_filter(model);
    filter.restart(plan.warm_up + plan.length);
    filter.set_state(stationary);
    RandomStream random(options.seed, Purpose::kEntropy, i);
    std::vector<double> distribution(filter.alphabet_size());
    double sum = 0.0;
    for (std::size_t t = 0; t < plan.warm_up + plan.length; ++t) {
      check_interruption(t);
      filter.next_distribution(distribution);
      if (t >= plan.warm_up) sum += entropy(distribution);
      filter.step(static_cast<Symbol>(random.categorical(distribution)));
    }
    means[i] = sum / static_cast<double>(plan.length);
  });
  EntropyRate out;
  const auto count = static_cast<double>(plan.sequences);
  for (const double mean : means) out.nats += mean / count;
  double squares = 0.0;
  for (const double mean : means) squares += (mean - out.nats) * (mean - out.nats);
  out.standard_error = std::sqrt(squares / (count - 1.0) / count);
  out.symbols = plan.sequences * plan.length;
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

double detail::period_of(Complex eigenvalue) {
  const double phase = std::abs(std::arg(eigenvalue));
  return phase < 1e-12 ? std::numeric_limits<double>::infinity() : 2.0 * std::numbers::pi / phase;
}

Spectrum channel_spectrum(const KrausSet& given, std::size_t count, const FixedPoint* known,
                          Field field) {
  const KrausSet set = of_unit_weight(given);
  const Index order = coordinates_of(set.latent_dim(), field);
  if (order <= kDenseUpTo) {
    const RealMatrix channel = total_channel_matrix(set).topLeftCorner(order, order);
    return make_spectrum(dense_eigenvalues(channel), count);
  }
  auto leading = leading_eigenvalues(
      set, count, known != nullptr ? known->state : channel_fixed_point(set).state, field);
  Spectrum out = make_spectrum(std::move(leading.values), count);
  out.converged = leading.converged;
  return out;
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
    out.state = matrix_free_fixed_point(set);
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

EntropyRate entropy_rate(const Hqmm& model, const EntropyOptions& options,
                         const FixedPoint* known) {
  if (!model.positions.stationary()) {
    throw fail(ErrorCode::kUsage,
               "only a model with one Kraus set for all positions has an entropy rate");
  }
  const auto n = static_cast<double>(model.latent_dim());
  const double cost = 16.0 * static_cast<double>(model.kraus_rank()) * n * n * n +
                      8.0 * static_cast<double>(model.alphabet_size()) * n * n;
  const KrausSet& set = model.sets[model.positions.entries().front()];
  return estimate_entropy_rate(
      model, known != nullptr ? known->state : channel_fixed_point(set).state, cost, options);
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
