// The formulas are in cosm.hpp.
//
// The Cayley map keeps Γ†Γ = I exactly; rounding would still add up over many thousands of steps,
// so a residual beyond 1e-13 is polished away.
#include "hqmm/learn/cosm.hpp"

#include <cmath>

#include "hqmm/learn/rules.hpp"
#include "hqmm/stiefel/cayley.hpp"
#include "hqmm/stiefel/newton_schulz.hpp"
#include "hqmm/stiefel/polar.hpp"
#include "hqmm/stiefel/products.hpp"
#include "hqmm/stiefel/tangent.hpp"

namespace hqmm::detail {
namespace {

constexpr double kPolishAbove = 1e-13;

/// 1/‖Z‖₂; zero is left alone.
double by_spectral_norm(const Stack& z) {
  const double norm = spectral_norm(z);
  return norm > 0.0 ? 1.0 / norm : 1.0;
}

double length_or_one(const RealVector& x) {
  const double length = x.stableNorm();
  return length > 0.0 ? length : 1.0;
}

class Cosm : public UpdateRule {
 public:
  explicit Cosm(const TrainOptions& options) : beta_(options.momentum) {}

  void begin_epoch() override {
    for (Stack& momentum : momenta_) momentum.setZero();
  }

  StepReport update(std::size_t parameter, Stack& gamma, const Stack& gradient,
                    double step_size) override {
    Stack& momentum = momentum_of(parameter, gamma);
    blend((1.0 - beta_) * by_spectral_norm(gradient), gradient, beta_, momentum);
    scale(by_spectral_norm(momentum), momentum);
    Stack after = cayley(gamma, momentum, step_size);
    if (feasibility_residual(after) > kPolishAbove) {
      Retraction polished = retract(after);
      if (polished.converged) after = std::move(polished.gamma);
    }
    gamma = std::move(after);
    return {};
  }

  /// Of one column the Cayley map is a turn in the plane of c and M.
  void update_columns(std::size_t parameter, Stack& columns, const Stack& gradient,
                      double step_size) override {
    Stack& momenta = momentum_of(parameter, columns);
    for (Index i = 0; i < columns.cols(); ++i) {
      auto c = columns.col(i).real();
      auto m = momenta.col(i).real();
      const RealVector g = gradient.col(i).real();
      m = beta_ * m + (1.0 - beta_) * g / length_or_one(g);
      m /= length_or_one(m);
      const RealVector across = tangent_of_sphere(c, m);
      const double length = across.norm();
      if (!(length > 0.0)) continue;
      const double angle = 2.0 * std::atan(0.5 * step_size * length);
      c = std::cos(angle) * c - std::sin(angle) / length * across;
      c /= c.norm();
    }
  }

 private:
  double beta_;
};

}  // namespace

std::unique_ptr<UpdateRule> make_cosm(const TrainOptions& options) {
  return std::make_unique<Cosm>(options);
}

}  // namespace hqmm::detail
