// UpdateRule: one step on the Stiefel manifold, given a gradient. A rule serves several parameters
// (the Kraus sets, emissions, and the initial state as a point of a sphere) and keeps a momentum
// for each.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hqmm/learn/learner.hpp"
#include "hqmm/learn/options.hpp"

namespace hqmm {

/// After so many halvings the step is given up: the direction is not finite.
inline constexpr std::uint64_t kMostHalvings = 60;

struct StepReport {
  std::uint64_t halved = 0;  // how often the step was halved before the retraction converged
};

/// What a step looked like from inside, for the stationarity measurements. Of C, every column is a
/// matrix of its own.
struct StepDetail {
  std::size_t parameter = 0;
  const Stack* before = nullptr;     // Γ_k
  const Stack* gradient = nullptr;   // G_R, of the mini-batch
  const Stack* momentum = nullptr;   // M
  const Stack* direction = nullptr;  // D
  const Stack* moved = nullptr;      // Γ_{k+½} = Γ_k − ηD
  const Stack* after = nullptr;      // Γ_{k+1}
  double step_size = 0.0;            // as taken
  bool columns = false;              // of C
};
using StepWatcher = std::function<void(const StepDetail&)>;

class UpdateRule {
 public:
  UpdateRule() = default;
  UpdateRule(const UpdateRule&) = delete;
  UpdateRule& operator=(const UpdateRule&) = delete;
  virtual ~UpdateRule() = default;

  virtual void begin_epoch() {}
  /// Moves `gamma`, parameter number `parameter`, against the gradient of the loss.
  virtual StepReport update(std::size_t parameter, Stack& gamma, const Stack& gradient,
                            double step_size) = 0;
  /// The same for C of emission on states, s × n and real: every column is a point of a sphere, a
  /// Stiefel matrix of one column, and takes a step of its own.
  virtual void update_columns(std::size_t parameter, Stack& columns, const Stack& gradient,
                              double step_size) = 0;
  /// The momenta, one per parameter; empty where no step has been taken.
  [[nodiscard]] const std::vector<Stack>& momenta() const noexcept { return momenta_; }
  void set_momenta(std::vector<Stack> momenta) { momenta_ = std::move(momenta); }
  void watch(StepWatcher watcher) { watcher_ = std::move(watcher); }

 protected:
  /// The momentum of a parameter, zero at first.
  Stack& momentum_of(std::size_t parameter, const Stack& like);

  std::vector<Stack> momenta_;
  StepWatcher watcher_;
};

/// G − c⟨c, G⟩: the part of G in the tangent space of the sphere at c.
[[nodiscard]] inline RealVector tangent_of_sphere(const RealVector& c, const RealVector& g) {
  return g - c.dot(g) * c;
}

[[nodiscard]] std::unique_ptr<UpdateRule> make_ns_ris(const TrainOptions& options);
[[nodiscard]] std::unique_ptr<UpdateRule> make_cosm(const TrainOptions& options);
/// Tangent momentum scaled by a second moment of the gradient's norm, whose decay of 0 means none.
[[nodiscard]] std::unique_ptr<UpdateRule> make_scaled_momentum(double momentum,
                                                               double second_moment);

}  // namespace hqmm
