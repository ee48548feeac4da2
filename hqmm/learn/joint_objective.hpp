// The objective that ties the models of all classes together, and its gradient.
//
//   discriminative   Σ_x v_c log p_c(x),   p(x) = softmax_d(ℓ_d(x) + log P(d)),   c the class of x
//                    ∂/∂ℓ_d = v_c ([d = c] − p_d):  per class, weighted log-likelihoods' gradient
//   generative       Σ_x v_c ℓ_c(x)
//
// ℓ_d is of the smoothed model of class d; gradients are by the Γ of the models themselves.
#pragma once

#include <span>
#include <vector>

#include "hqmm/data/sequence_set.hpp"
#include "hqmm/engine/quantum/gradient.hpp"

namespace hqmm::detail {

struct JointGradient {
  double objective = 0.0;                          // of the whole batch
  std::vector<std::vector<Stack>> sets;            // [class][set]: ∂(−objective)/∂Γ, or by V
  std::vector<std::vector<RealMatrix>> emissions;  // [class][set]: by C; none on edges
};

class JointObjective {
 public:
  enum class Kind { kGenerative, kDiscriminative };

  /// Priors and weights v of the classes, both positive.
  JointObjective(std::span<const double> priors, std::vector<double> weights, double smoothing,
                 EngineKind engine, int threads);

  /// labels[i] is the class of sequence i of the batch. The same bytes at any thread count. Throws
  /// NotFiniteError when a model gives a sequence no probability, which smoothing prevents.
  [[nodiscard]] JointGradient gradient(std::span<const Hqmm> models, const SequenceSet& batch,
                                       std::span<const std::uint32_t> labels, Kind kind);

 private:
  /// The sequences of the batch that a class's gradient needs, and how much they count.
  struct Share {
    std::vector<SequenceView> sequences;
    std::vector<std::size_t> indices;  // in the batch
    std::vector<double> weights;
    double log_likelihood = 0.0;
  };
  double discriminate(std::span<const Hqmm> smooth, const SequenceSet& batch,
                      std::span<const std::uint32_t> labels, std::span<Share> shares) const;
  void class_gradient(const Hqmm& model, const Hqmm& smooth, Share& share, std::size_t index,
                      JointGradient& out);

  std::vector<double> log_priors_;
  std::vector<double> class_weights_;
  double smoothing_;
  EngineKind engine_;
  int threads_;
  std::vector<GradientScratch> scratch_;  // one per class
};

}  // namespace hqmm::detail
