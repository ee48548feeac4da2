// An update rule of your own: plain gradient descent on the Stiefel manifold, in place of NS-RIS.
//
//   G_R = G − ½Γ(G†Γ + Γ†G)         the gradient along the manifold
//   Γ₊ = nearest point of Γ − ηG_R/‖G_R‖
#include <cmath>
#include <cstdio>
#include <hqmm/hqmm.hpp>
#include <memory>

namespace {

class SteepestDescent : public hqmm::UpdateRule {
 public:
  hqmm::StepReport update(std::size_t /*parameter*/, hqmm::Stack& gamma,
                          const hqmm::Stack& gradient, double step_size) override {
    const hqmm::Stack along = hqmm::tangent_part(gamma, gradient);
    const double length = along.norm();
    if (!(length > 0.0) || !std::isfinite(length)) return {};
    if (auto moved = hqmm::nearest_feasible(gamma - step_size / length * along)) gamma = *moved;
    return {};
  }

  /// The columns of C, for models that emit on their states: points of spheres.
  void update_columns(std::size_t /*parameter*/, hqmm::Stack& columns, const hqmm::Stack& gradient,
                      double step_size) override {
    for (hqmm::Index i = 0; i < columns.cols(); ++i) {
      const double length = gradient.col(i).norm();
      if (!(length > 0.0) || !std::isfinite(length)) continue;
      columns.col(i) -= step_size / length * gradient.col(i);
      columns.col(i) /= columns.col(i).norm();
    }
  }
};

}  // namespace

int main() {
  const hqmm::Benchmark data = hqmm::generate_benchmark(hqmm::synthetic_hqmm(), /*seed=*/1);
  hqmm::TrainOptions options;
  options.latent_dim = 2;
  options.kraus_rank = 1;
  options.epochs = 5;
  hqmm::TrainHooks hooks;
  hooks.make_rule = [](const hqmm::TrainOptions&) { return std::make_unique<SteepestDescent>(); };
  const hqmm::TrainResult result = hqmm::train(data.train, data.validation, options, hooks);
  const hqmm::Score score =
      hqmm::score(result.model, data.test, {.burn_in = hqmm::kBenchmarkBurnIn});
  std::printf("%.4f bits per symbol, feasible to %.0e\n", *score.bits_per_symbol,
              hqmm::feasibility_residual(result.model));
  return hqmm::is_feasible(result.model) ? 0 : 1;
}
