// UpdateRule: one step on the Stiefel manifold, given a gradient. A rule serves several parameters
// (the Kraus sets, emissions, and the initial state as a point of a sphere) and keeps a momentum
// for each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"

namespace HQMM_API hqmm {

struct StepReport {
  std::uint64_t halved = 0;  // how often the step was halved before the retraction converged
};

namespace detail {

/// The parts of a step, for the stationarity measurements. For C, every column is a separate
/// matrix.
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

}  // namespace detail

/// For one thread at a time; restarts that run in parallel have a rule each.
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
  /// Stiefel matrix of one column, and takes its own step.
  virtual void update_columns(std::size_t parameter, Stack& columns, const Stack& gradient,
                              double step_size) = 0;
  /// The momenta, one per parameter; empty where no step has been taken.
  [[nodiscard]] const std::vector<Stack>& momenta() const noexcept { return momenta_; }
  void set_momenta(std::vector<Stack> momenta) { momenta_ = std::move(momenta); }
  void watch(detail::StepWatcher watcher) { watcher_ = std::move(watcher); }

 protected:
  /// The momentum of a parameter, zero at first.
  Stack& momentum_of(std::size_t parameter, const Stack& like);

  std::vector<Stack> momenta_;
  detail::StepWatcher watcher_;
};

/// P_Γ(G) = G − ½Γ(G†Γ + Γ†G): the part of a gradient that is tangent to the manifold at Γ.
[[nodiscard]] Stack tangent_part(const Stack& gamma, const Stack& gradient);
/// The nearest point of the manifold, Z(Z†Z)^{−1/2}, feasible to 1e-12; nothing if Z is too far
/// from full rank, or not finite.
[[nodiscard]] std::optional<Stack> nearest_feasible(const Stack& z);

}  // namespace hqmm
