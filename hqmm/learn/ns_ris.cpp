// The formulas are in ns_ris.hpp.
//
// An update is six products with a tall matrix and a few dozen of n × n matrices, in memory that is
// used again: D is M times a small matrix and is not written down.
#include "hqmm/learn/ns_ris.hpp"

#include <cmath>
#include <optional>

#include "hqmm/learn/rules.hpp"
#include "hqmm/stiefel/gram.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/products.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

/// Memory for updates of stacks of one shape.
struct Work {
  Work(Index rows, Index cols) : cross(cols, 1), moved(rows, cols), after(rows, cols) {}

  SquareMemory cross;        // Γ†G
  GramIteration direction;   // of M
  GramIteration retraction;  // of Γ − ηD
  Stack scaled;              // M, where its entries are of extreme size
  Stack moved;               // Γ − ηD
  Stack after;               // Γ₊
  Stack seen;                // Γ − ηD for the watcher: the retraction overwrites it
};

/// D = scale · source · factor, or the source itself if there is no scale.
struct Direction {
  const Stack* source;
  Square factor;
  std::optional<double> scale;
};

/// Steps of columns, for the watcher.
struct Seen {
  Stack before, tangent, direction, moved;
};

class NsRis : public UpdateRule {
 public:
  explicit NsRis(const TrainOptions& options)
      : retraction_(options.retraction), beta_(options.momentum), ns_steps_(options.ns_steps) {}

  StepReport update(std::size_t parameter, Stack& gamma, const Stack& gradient,
                    double step_size) override {
    Work& work = work_for(gamma);
    Stack& momentum = momentum_of(parameter, gamma);
    blend_tangent(gamma, gradient, beta_, 1.0 - beta_, momentum, work.cross[0]);
    const Direction direction = find_direction(momentum, work);
    StepReport report;
    if (retraction_ == RetractionKind::kLiteral) {
      literal_step(gamma, direction, step_size, work);
    } else {
      report = feasible_step(gamma, direction, step_size, work);
    }
    if (watcher_) {
      const Stack tangent = project_tangent(gamma, gradient);
      const Stack whole_direction = newton_schulz_literal(momentum, ns_steps_);
      watcher_({parameter, &gamma, &tangent, &momentum, &whole_direction, &work.seen, &work.after,
                step_size});
    }
    gamma.swap(work.after);
    return report;
  }

  /// Of one column the polar factor is M/‖M‖, and the retraction divides by the length.
  void update_columns(std::size_t parameter, Stack& columns, const Stack& gradient,
                      double step_size) override {
    Stack& momenta = momentum_of(parameter, columns);
    Seen seen;
    if (watcher_) seen = {columns, columns, columns, columns};
    for (Index i = 0; i < columns.cols(); ++i) {
      auto c = columns.col(i).real();
      auto m = momenta.col(i).real();
      const RealVector tangent = tangent_of_sphere(c, gradient.col(i).real());
      m = beta_ * m + (1.0 - beta_) * tangent;
      const double length = m.stableNorm();
      const bool moves = length > 0.0 && std::isfinite(length);
      const RealVector direction = moves ? RealVector(m / length) : RealVector::Zero(m.size());
      const RealVector moved = c - step_size * direction;
      c = moved / moved.norm();
      if (!watcher_) continue;
      seen.tangent.col(i) = tangent;
      seen.direction.col(i) = direction;
      seen.moved.col(i) = moved;
    }
    if (watcher_)
      watcher_({parameter, &seen.before, &seen.tangent, &momenta, &seen.direction, &seen.moved,
                &columns, step_size, true});
  }

 private:
  Work& work_for(const Stack& gamma) {
    for (const auto& work : works_) {
      if (work->after.rows() == gamma.rows() && work->after.cols() == gamma.cols()) return *work;
    }
    return *works_.emplace_back(std::make_unique<Work>(gamma.rows(), gamma.cols()));
  }

  /// A gradient of zero has no direction; one that is not finite leads to one that is not either.
  Direction find_direction(const Stack& momentum, Work& work) const {
    Direction out{&momentum, {}, literal_factor(momentum, ns_steps_, work.direction)};
    if (!out.scale && momentum.allFinite() && !is_zero(momentum)) {
      work.scaled = safe_scale(momentum) * momentum;
      out = {&work.scaled, {}, literal_factor(work.scaled, ns_steps_, work.direction)};
    }
    out.factor = work.direction.factor();
    return out;
  }

  /// Γ − ηD
  void move(const Stack& gamma, const Direction& direction, double step_size, Work& work) const {
    if (direction.scale) {
      multiply(*direction.source, direction.factor, work.moved, -step_size * *direction.scale,
               {1.0, gamma});
    } else {
      work.moved = gamma - step_size * *direction.source;
    }
    if (watcher_) work.seen = work.moved;
  }

  void literal_step(const Stack& gamma, const Direction& direction, double step_size,
                    Work& work) const {
    move(gamma, direction, step_size, work);
    if (const auto scale = literal_factor(work.moved, ns_steps_, work.retraction)) {
      multiply(work.moved, work.retraction.factor(), work.after, *scale);
    } else {
      work.after = newton_schulz_literal(work.moved, ns_steps_);
    }
  }

  /// A step so unlucky that Γ − ηD is rank deficient is halved until it is not: near Γ it never is.
  StepReport feasible_step(const Stack& gamma, const Direction& direction, double& step_size,
                           Work& work) const {
    StepReport report;
    for (;; step_size *= 0.5, ++report.halved) {
      move(gamma, direction, step_size, work);
      if (retract(work.moved, work.after, work.retraction).converged) return report;
      if (report.halved == kMostHalvings) {
        work.after = gamma;
        return report;
      }
    }
  }

  RetractionKind retraction_;
  double beta_;
  int ns_steps_;
  std::vector<std::unique_ptr<Work>> works_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_ns_ris(const TrainOptions& options) {
  return std::make_unique<NsRis>(options);
}

}  // namespace hqmm::detail
