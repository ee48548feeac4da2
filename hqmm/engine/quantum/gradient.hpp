// Loss and gradient of a batch of sequences: one interface for all engines.
//
// The loss is the negative raw log-likelihood −Σ log tr 𝒦_y(ρ), each sequence's share of it times
// the sequence's weight. For a trace-preserving model that is the negative log-likelihood; for an
// infeasible one it is what the paper's algorithm descends, and the normalised figure comes beside
// it.
//
// A model that emits on states is differentiated by V and C, a real one by real parts only.
// Gradients follow the real inner product ⟨A,B⟩ = Re tr(A†B): ∇ = ∂L/∂Re + i ∂L/∂Im.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hqmm/core/ranks.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/chain/not_finite.hpp"
#include "hqmm/engine/engine_kind.hpp"
#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail {

class CudaEngine;

struct GradientOptions {
  std::size_t burn_in = 0;
  /// The gradient flows through the burn-in, or stops where it ends.
  bool through_burn_in = true;
  bool want_initial_state = false;
  EngineKind engine = EngineKind::kAuto;
  /// The gradient's part normal to the manifold of feasible models need not be right, for callers
  /// that project it away. A feasible model then has nothing to do where symbols are missing:
  /// their channel keeps the trace. The naive engine and infeasible models know no difference.
  bool tangent_only = false;
  /// One per sequence of the batch, of any sign, or none: all are 1.
  std::span<const double> weights{};
  /// Computes by this engine, for feasible models and sequences without symbols that stand for
  /// several: kUsage for others. One gradient at a time.
  CudaEngine* gpu = nullptr;
  /// Other processes that share the work, if any, by gradient_task(); and by which numbers they know
  /// the sequences of the batch. The bytes are the same.
  Ranks* ranks = nullptr;
  std::span<const std::uint32_t> numbers{};
};

/// Sums over the sequences of a batch.
struct BatchGradient {
  std::uint64_t scored = 0;
  double log_likelihood = 0.0;        // normalised; likelihoods are added up without the weights
  double raw_log_likelihood = 0.0;    // its negative is the loss, if all weights are 1
  std::vector<Stack> sets;            // ∂loss/∂Γ of each Kraus set, or by V
  std::vector<RealMatrix> emissions;  // by C; none for emission on edges
  Matrix initial_state;               // ∂loss/∂ρ₀, Hermitian; empty unless wanted; zero
                                      // when the gradient stops at a burn-in. Where neither row nor
                                      // column meets the range of ρ₀ it may be left at zero.

  BatchGradient& operator+=(const BatchGradient& other);
};

/// The scratch of a gradient, for callers that compute many: reused from one batch to the next, of
/// the same model or another. Holds no result.
class GradientScratch {
 public:
  GradientScratch();
  GradientScratch(const GradientScratch&) = delete;
  GradientScratch& operator=(const GradientScratch&) = delete;
  GradientScratch(GradientScratch&&) noexcept;
  GradientScratch& operator=(GradientScratch&&) noexcept;
  ~GradientScratch();

  struct Contents;
  [[nodiscard]] Contents& contents() noexcept { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

/// The sum over the batch, combined along a fixed tree: the same bytes at any thread count.
/// Memory per thread beyond the operators and their gradients: at most 32 MiB of states, or those
/// of 16 steps; and one state per sequence and 32 MiB.
[[nodiscard]] BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                                     const GradientOptions& options, int threads,
                                     GradientScratch& scratch);
[[nodiscard]] BatchGradient gradient(const Hqmm& model, std::span<const SequenceView> batch,
                                     const GradientOptions& options, int threads);

/// With which other ranks help, by this name; `sequence` gives the one of a number.
inline constexpr const char* kGradientTask = "gradient";
[[nodiscard]] RankTask gradient_task(std::function<SequenceView(std::uint32_t)> sequence,
                                     Share share, int threads);

}  // namespace hqmm::detail
