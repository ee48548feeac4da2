// NS-RIS: Newton–Schulz retraction-based inference on the Stiefel manifold.
//
//   G_R = G − ½Γ(G†Γ + Γ†G)            tangent projection of the mini-batch gradient
//   M ← βM + (1−β)G_R                  momentum
//   D ≈ Polar(M)                       T literal Newton–Schulz steps
//   Γ₊ = retraction of Γ − ηD          feasible: convergent Newton–Schulz, Γ†Γ = I to 1e-12
//                                      literal: the map of D again, which leaves the manifold
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm {
namespace {

class NsRis : public UpdateRule {
 public:
  explicit NsRis(const TrainOptions& options)
      : retraction_(options.retraction), beta_(options.momentum), ns_steps_(options.ns_steps) {}

  StepReport update(std::size_t parameter, Stack& gamma, const Stack& gradient,
                    double step_size) override {
    const Stack tangent = project_tangent(gamma, gradient);
    Stack& momentum = momentum_of(parameter, gamma);
    momentum = beta_ * momentum + (1.0 - beta_) * tangent;
    const Stack direction = newton_schulz_literal(momentum, ns_steps_);

    StepReport report;
    Stack moved;
    Stack after;
    if (retraction_ == RetractionKind::kLiteral) {
      moved = gamma - step_size * direction;
      after = newton_schulz_literal(moved, ns_steps_);
    } else {
      after = feasible_step(gamma, direction, step_size, moved, report);
    }
    if (watcher_) {
      watcher_({parameter, &gamma, &tangent, &momentum, &direction, &moved, &after, step_size});
    }
    gamma = std::move(after);
    return report;
  }

 private:
  /// A step so unlucky that Γ − ηD is rank deficient is halved until it is not: near Γ it never is.
  static Stack feasible_step(const Stack& gamma, const Stack& direction, double& step_size,
                             Stack& moved, StepReport& report) {
    for (;; step_size *= 0.5, ++report.halved) {
      moved = gamma - step_size * direction;
      Retraction step = retract(moved);
      if (step.converged) return std::move(step.gamma);
      if (report.halved == 60) return gamma;  // the direction is not finite: stay
    }
  }

  RetractionKind retraction_;
  double beta_;
  int ns_steps_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_ns_ris(const TrainOptions& options) {
  return std::make_unique<NsRis>(options);
}

}  // namespace hqmm
