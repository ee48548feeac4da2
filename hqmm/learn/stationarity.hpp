// The paper's convergence theorem as a measurement. For K steps of constant size η it bounds the
// mean nuclear norm of the Riemannian gradient by
//
//   D/(η(1−ε)K) + L(1+ε)²η/(1−ε) + (2G₁ρ̄ + Lq̄)/(η(1−ε)) + 2𝒯/(1−ε),
//   𝒯 = E‖M₁ − grad F(Γ₀)‖₁/((1−β)K) + √n·σ/√b + βL/(1−β)·(η(1+ε) + ρ̄)
//
// Every quantity is measured on a real run. ε, ρ̄ and q̄ are of all steps; the full gradient, σ, L
// and G₁ are taken at up to kSamples steps spread over the run, so L and G₁ are the largest seen,
// not suprema. For emission on states Γ is the matrix with V and every column of C as blocks along
// its diagonal: a Stiefel matrix of 2n columns, whose steps are those of its blocks.
#pragma once

#include <memory>
#include <optional>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/learn/data_plan.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/update_rule.hpp"

namespace hqmm::detail {

struct StationarityReport {
  std::uint64_t steps = 0;    // K
  std::uint64_t samples = 0;  // steps at which the full gradient was taken
  double step_size = 0.0;     // η
  double momentum = 0.0;      // β
  double batch_size = 0.0;    // b
  double latent_dim = 0.0;    // columns of Γ: n, or 2n for emission on states
  double epsilon = 0.0;       // largest operator-norm distance of D from Polar(M)
  double rho_mean = 0.0;      // mean of ρ_k = ‖Γ_{k+1} − Γ_{k+½}‖_op
  double rho_mean_square = 0.0;
  double sigma = 0.0;           // of one sequence's gradient about the full one, Frobenius
  double gradient_bound = 0.0;  // G₁: largest nuclear norm of the full gradient
  double lipschitz = 0.0;  // L: largest ‖grad F(Γ) − grad F(Γ')‖₁/‖Γ − Γ'‖_op between neighbours
  double descent = 0.0;            // D = F(Γ₀) − least F seen
  double momentum_mismatch = 0.0;  // ‖M₁ − grad F(Γ₀)‖₁
  double measured = 0.0;           // left side: mean nuclear norm of the full gradient
  double largest_residual = 0.0;   // ‖Γ†Γ − I‖_F over all steps

  // The right side, term by term; infinite when ε ≥ 1.
  [[nodiscard]] double descent_term() const;
  [[nodiscard]] double smoothness_term() const;
  [[nodiscard]] double retraction_term() const;
  [[nodiscard]] double tracking_term() const;
  [[nodiscard]] double bound() const;

  // Which assumptions the run met.
  [[nodiscard]] bool on_manifold() const;  // Γ_{k+1} ∈ St for all k
  [[nodiscard]] bool direction_accurate() const { return epsilon < 1.0; }
};

/// Watches the steps of an NS-RIS run. Throws kUsage when the run is not one the theorem speaks of:
/// ns-ris, a constant step size above 0, one restart, a fixed initial state; and while watching,
/// when there is more than one Kraus set.
class StationarityProbe {
 public:
  StationarityProbe(const SequenceSet& train, const DataPlan& plan, const TrainOptions& options,
                    const Matrix& initial_state);
  ~StationarityProbe();
  StationarityProbe(const StationarityProbe&) = delete;
  StationarityProbe& operator=(const StationarityProbe&) = delete;

  [[nodiscard]] StepWatcher watcher();
  [[nodiscard]] StationarityReport report() const;

 private:
  class Measurement;
  std::unique_ptr<Measurement> measurement_;
};

}  // namespace hqmm::detail
