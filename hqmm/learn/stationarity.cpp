#include "hqmm/learn/stationarity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/data/chunks.hpp"
#include "hqmm/engine/quantum/gradient.hpp"
#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/rules.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

constexpr std::uint64_t kSamples = 64;

}  // namespace

/// A point of the manifold or a tangent vector: Γ, or V and C, which is the matrix with V and every
/// column of C as blocks along its diagonal.
struct Blocks {
  Stack stack;
  Stack columns;  // empty on edges

  Blocks& operator+=(const Blocks& other) {
    stack += other.stack;
    columns += other.columns;
    return *this;
  }
  friend Blocks operator-(const Blocks& a, const Blocks& b) {
    return {a.stack - b.stack, a.columns - b.columns};
  }
  friend Blocks operator/(const Blocks& a, double by) { return {a.stack / by, a.columns / by}; }
  [[nodiscard]] double squared_norm() const { return stack.squaredNorm() + columns.squaredNorm(); }
};

/// A step of all blocks.
struct BlockStep {
  Blocks before, momentum, direction, moved, after;
};

namespace {

double nuclear_norm(const Blocks& z) {
  return detail::nuclear_norm(z.stack) + z.columns.colwise().norm().sum();
}

double operator_distance(const Blocks& a, const Blocks& b) {
  double out = detail::operator_distance(a.stack, b.stack);
  for (Index i = 0; i < a.columns.cols(); ++i)
    out = std::max(out, (a.columns.col(i) - b.columns.col(i)).norm());
  return out;
}

Blocks polar_of(const Blocks& z) {
  Blocks out{polar(z.stack), z.columns};
  for (Index i = 0; i < out.columns.cols(); ++i) out.columns.col(i).normalize();
  return out;
}

double residual_of(const Blocks& z) {
  double out = feasibility_residual(z.stack);
  for (Index i = 0; i < z.columns.cols(); ++i)
    out = std::hypot(out, z.columns.col(i).squaredNorm() - 1.0);
  return out;
}

}  // namespace

double StationarityReport::descent_term() const {
  if (!direction_accurate()) return std::numeric_limits<double>::infinity();
  return descent / (step_size * (1.0 - epsilon) * static_cast<double>(steps));
}
double StationarityReport::smoothness_term() const {
  if (!direction_accurate()) return std::numeric_limits<double>::infinity();
  return lipschitz * (1.0 + epsilon) * (1.0 + epsilon) * step_size / (1.0 - epsilon);
}
double StationarityReport::retraction_term() const {
  if (!direction_accurate()) return std::numeric_limits<double>::infinity();
  return (2.0 * gradient_bound * rho_mean + lipschitz * rho_mean_square) /
         (step_size * (1.0 - epsilon));
}
double StationarityReport::tracking_term() const {
  if (!direction_accurate()) return std::numeric_limits<double>::infinity();
  const double tracking =
      momentum_mismatch / ((1.0 - momentum) * static_cast<double>(steps)) +
      std::sqrt(latent_dim) * sigma / std::sqrt(batch_size) +
      momentum * lipschitz / (1.0 - momentum) * (step_size * (1.0 + epsilon) + rho_mean);
  return 2.0 * tracking / (1.0 - epsilon);
}
double StationarityReport::bound() const {
  return descent_term() + smoothness_term() + retraction_term() + tracking_term();
}
bool StationarityReport::on_manifold() const { return largest_residual <= kFeasibleTolerance; }

class StationarityProbe::Measurement {
 public:
  Measurement(const SequenceSet& train, const DataPlan& plan, const TrainOptions& options,
              const Matrix& initial_state)
      : options_(options), alphabet_(train.alphabet()), initial_state_(initial_state) {
    chunks_ = cut(train, {plan.chunk_length, plan.burn_in});
    gradient_options_ = {plan.burn_in, options.gradient_through_burn_in, false, options.engine};
    const std::uint64_t updates = (chunks_.size() + options.batch_size - 1) / options.batch_size;
    stride_ = std::max<std::uint64_t>(1, options.epochs * updates / kSamples);
    report_.step_size = options.step_size;
    report_.momentum = options.momentum;
    report_.batch_size = static_cast<double>(std::min(options.batch_size, chunks_.size()));
    report_.latent_dim =
        static_cast<double>(on_states() ? 2 * options.latent_dim : options.latent_dim);
  }

  /// V's step comes first, then C's: both are one step of the theorem.
  void watch(const StepDetail& detail) {
    if (detail.parameter != (detail.columns ? 1 : 0)) {
      throw fail(ErrorCode::kUsage,
                 "the convergence bound applies to models with one Kraus set for all positions");
    }
    if (detail.columns) {
      step_.before.columns = *detail.before;
      step_.momentum.columns = *detail.momentum;
      step_.direction.columns = *detail.direction;
      step_.moved.columns = *detail.moved;
      step_.after.columns = *detail.after;
    } else {
      step_ = {{*detail.before, {}},
               {*detail.momentum, {}},
               {*detail.direction, {}},
               {*detail.moved, {}},
               {*detail.after, {}}};
    }
    if (detail.columns == on_states()) measure(step_);
  }

  [[nodiscard]] StationarityReport report() const {
    StationarityReport out = report_;
    const auto steps = static_cast<double>(std::max<std::uint64_t>(out.steps, 1));
    const auto samples = static_cast<double>(std::max<std::uint64_t>(out.samples, 1));
    out.rho_mean = rho_sum_ / steps;
    out.rho_mean_square = rho_squares_ / steps;
    out.sigma = std::sqrt(variance_sum_ / samples);
    out.measured = norm_sum_ / samples;
    if (out.samples > 0) out.descent = first_loss_ - least_loss_;
    return out;
  }

 private:
  struct Full {
    double loss = 0.0;      // F(Γ), mean over sequences
    Blocks gradient;        // grad F, tangent
    double variance = 0.0;  // mean ‖grad f_i − grad F‖²
  };

  [[nodiscard]] bool on_states() const { return options_.emission == EmissionKind::kState; }

  void measure(const BlockStep& step) {
    const double epsilon = operator_distance(step.direction, polar_of(step.momentum));
    report_.epsilon = std::max(report_.epsilon, epsilon);
    const double rho = operator_distance(step.after, step.moved);
    rho_sum_ += rho;
    rho_squares_ += rho * rho;
    report_.largest_residual = std::max(report_.largest_residual, residual_of(step.after));
    if (report_.steps % stride_ == 0) take_sample(step);
    ++report_.steps;
  }

  [[nodiscard]] KrausSet set_at(const Blocks& point) const {
    if (on_states()) return {point.stack, point.columns.real()};
    return {static_cast<Index>(alphabet_.size()), options_.kraus_rank, point.stack};
  }

  [[nodiscard]] Blocks tangent_of(const Blocks& point, const BatchGradient& g) const {
    Blocks out{project_tangent(point.stack, g.sets[0]), {}};
    if (!on_states()) return out;
    out.columns = g.emissions[0].cast<Complex>();
    for (Index i = 0; i < out.columns.cols(); ++i)
      out.columns.col(i) =
          tangent_of_sphere(point.columns.col(i).real(), out.columns.col(i).real());
    return out;
  }

  [[nodiscard]] Full full_gradient(const Blocks& point) const {
    const Hqmm model = stationary_hqmm(alphabet_, set_at(point), initial_state_, options_.field);
    struct Sum {
      double loss = 0.0;
      Blocks gradient;
      double squares = 0.0;
    };
    Sum total = parallel_reduce(
        chunks_.size(), options_.threads, Sum{},
        [&](std::size_t i) {
          const BatchGradient g = gradient_of(model, i);
          Blocks tangent = tangent_of(point, g);
          const double square = tangent.squared_norm();
          return Sum{-g.raw_log_likelihood, std::move(tangent), square};
        },
        [](Sum a, const Sum& b) {
          a.loss += b.loss;
          a.gradient += b.gradient;
          a.squares += b.squares;
          return a;
        });
    const auto count = static_cast<double>(chunks_.size());
    Full out{total.loss / count, total.gradient / count, 0.0};
    out.variance = std::max(0.0, total.squares / count - out.gradient.squared_norm());
    return out;
  }

  [[nodiscard]] BatchGradient gradient_of(const Hqmm& model, std::size_t i) const {
    const SequenceView one = chunks_[i].symbols;
    try {
      return gradient(model, {&one, 1}, gradient_options_, 1);
    } catch (const NotFiniteError& error) {
      throw DivergedError({chunks_[i].sequence, chunks_[i].begin + error.place().position});
    }
  }

  void take_sample(const BlockStep& step) {
    const Full here = full_gradient(step.before);
    const Full next = full_gradient(step.after);
    const double norm = nuclear_norm(here.gradient);
    if (report_.samples == 0) {
      first_loss_ = here.loss;
      report_.momentum_mismatch = nuclear_norm(step.momentum - here.gradient);
    }
    ++report_.samples;
    least_loss_ = std::min({least_loss_, here.loss, next.loss});
    norm_sum_ += norm;
    variance_sum_ += here.variance;
    report_.gradient_bound = std::max({report_.gradient_bound, norm, nuclear_norm(next.gradient)});
    const double moved = operator_distance(step.after, step.before);
    if (moved > 0.0) {
      report_.lipschitz =
          std::max(report_.lipschitz, nuclear_norm(next.gradient - here.gradient) / moved);
    }
  }

  TrainOptions options_;
  Alphabet alphabet_;
  Matrix initial_state_;
  Chunks chunks_;
  GradientOptions gradient_options_;
  std::uint64_t stride_ = 1;
  BlockStep step_;
  StationarityReport report_;
  double rho_sum_ = 0.0;
  double rho_squares_ = 0.0;
  double variance_sum_ = 0.0;
  double norm_sum_ = 0.0;
  double first_loss_ = 0.0;
  double least_loss_ = std::numeric_limits<double>::infinity();
};

StationarityProbe::StationarityProbe(const SequenceSet& train, const DataPlan& plan,
                                     const TrainOptions& options, const Matrix& initial_state) {
  if (options.learner != LearnerKind::kNsRis) {
    throw fail(ErrorCode::kUsage, "the convergence bound applies to ns-ris, not to {}",
               name_of(options.learner));
  }
  if (!(options.step_size > 0.0)) {
    throw fail(ErrorCode::kUsage, "the convergence bound needs a {} above 0", option("step_size"));
  }
  if (options.schedule != ScheduleKind::kConstant || options.restarts != 1) {
    throw fail(ErrorCode::kUsage,
               "the convergence bound applies to a single "
               "run with a constant step size: use {} and {}",
               option("schedule", "constant"), option("restarts", 1));
  }
  if (options.emission == EmissionKind::kState && options.emission_step != options.step_size) {
    throw fail(ErrorCode::kUsage,
               "the convergence bound applies to a single step size: use {} for {} as well",
               option("emission_step", options.step_size), option("step_size", options.step_size));
  }
  if (options.initial_state == InitialStateKind::kLearned ||
      options.initial_state == InitialStateKind::kPure) {
    throw fail(ErrorCode::kUsage,
               "the convergence bound applies to the Kraus operators only: use a fixed {}",
               option("initial_state"));
  }
  measurement_ = std::make_unique<Measurement>(train, plan, options, initial_state);
}

StationarityProbe::~StationarityProbe() = default;

StepWatcher StationarityProbe::watcher() {
  return [this](const StepDetail& step) { measurement_->watch(step); };
}

StationarityReport StationarityProbe::report() const { return measurement_->report(); }

}  // namespace hqmm::detail
