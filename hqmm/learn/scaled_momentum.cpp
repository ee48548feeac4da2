// Momentum in the tangent space, every parameter's step scaled by one number of its own:
//
//   G_R = G − ½Γ(G†Γ + Γ†G)
//   v ← dv + (1−d)‖G_R‖²,  v̂ = v/(1 − d^k)           second moment, bias corrected after k steps
//   M ← βM + (1−β)G_R
//   Γ₊ = retraction of Γ − η M/√v̂                    convergent Newton–Schulz, Γ†Γ = I to 1e-12
//
// A scalar, so that the direction stays that of the momentum: sets whose positions say little move
// as far as those that decide.
#include <cmath>

#include "hqmm/learn/rules.hpp"
#include "hqmm/learn/update_rule.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

class ScaledMomentum : public UpdateRule {
 public:
  ScaledMomentum(double momentum, double second_moment) : beta_(momentum), decay_(second_moment) {}

  StepReport update(std::size_t parameter, Stack& gamma, const Stack& gradient,
                    double step_size) override {
    resize(gamma);
    Stack& momentum = momentum_of(parameter, gamma);
    blend_tangent(gamma, gradient, 0.0, 1.0, tangent_, cross_[0]);
    const double size = scale_of(parameter, tangent_.squaredNorm());
    momentum = beta_ * momentum + (1.0 - beta_) * tangent_;
    StepReport report;
    if (!(size > 0.0)) return report;
    for (double step = step_size / size;; step *= 0.5, ++report.halved) {
      moved_ = gamma - step * momentum;
      if (retract(moved_, after_, iteration_).converged) {
        gamma.swap(after_);
        return report;
      }
      if (report.halved == kMostHalvings) return report;
    }
  }

  /// The second moment is of all columns together: one number for the parameter here, too.
  void update_columns(std::size_t parameter, Stack& columns, const Stack& gradient,
                      double step_size) override {
    Stack& momenta = momentum_of(parameter, columns);
    RealMatrix tangent(columns.rows(), columns.cols());
    for (Index i = 0; i < columns.cols(); ++i)
      tangent.col(i) = tangent_of_sphere(columns.col(i).real(), gradient.col(i).real());
    const double size = scale_of(parameter, tangent.squaredNorm());
    for (Index i = 0; i < columns.cols(); ++i) {
      auto c = columns.col(i).real();
      auto m = momenta.col(i).real();
      m = beta_ * m + (1.0 - beta_) * tangent.col(i);
      if (!(size > 0.0)) continue;
      c -= step_size / size * m;
      c /= c.norm();
    }
  }

 private:
  void resize(const Stack& gamma) {
    if (tangent_.rows() == gamma.rows() && tangent_.cols() == gamma.cols()) return;
    tangent_ = moved_ = after_ = Stack::Zero(gamma.rows(), gamma.cols());
    cross_.resize(gamma.cols(), 1);
  }

  /// √v̂ with this gradient taken in; 1 without scaling.
  double scale_of(std::size_t parameter, double squared_norm) {
    if (decay_ == 0.0) return 1.0;
    if (moments_.size() <= parameter) moments_.resize(parameter + 1);
    Moment& moment = moments_[parameter];
    moment.value = decay_ * moment.value + (1.0 - decay_) * squared_norm;
    moment.past *= decay_;
    return std::sqrt(moment.value / (1.0 - moment.past));
  }

  struct Moment {
    double value = 0.0;  // v
    double past = 1.0;   // d^k
  };

  double beta_, decay_;
  std::vector<Moment> moments_;
  Stack tangent_, moved_, after_;
  SquareMemory cross_;
  GramIteration iteration_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_scaled_momentum(double momentum, double second_moment) {
  return std::make_unique<ScaledMomentum>(momentum, second_moment);
}

}  // namespace hqmm::detail
