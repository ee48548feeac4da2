// Retrodiction: what a whole sequence, past and future together, says about the state after each of
// its symbols. (Filters know only the past. smoothing.hpp does something else: models in which
// no symbol is impossible.)
//
// An HMM has the posterior of its states (forward–backward):
//
//   γ_t(i) = P(z_t = i | y₁ … y_T)
//
// An HQMM has a pair for every t, the past quantum state: ρ_t, filtered along the symbols up to t,
// and the effect E_t of those after it,
//
//   E_T = I,   E_{t−1} ∝ 𝒦_{y_t}†(E_t),   scaled so that tr(E_t ρ_t) = 1
//
// and as one matrix the smoothed state, ρ_t updated by Lüders' rule with "the rest happens":
//
//   √E_t ρ_t √E_t                  a density matrix: positive, of trace tr(E_t ρ_t) = 1
//
// Its diagonal is γ_t for an HMM embedded as in embedding.hpp: E_t is diagonal there, with E_t(i,
// i) ∝ P(y_{t+1} … y_T | z_t = i). At the end of a sequence it is ρ_T. √ρE√ρ has the same
// eigenvalues, but another diagonal for the rank-one embedding, whose ρ_t are not diagonal.
#pragma once

#include <functional>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/edge_hmm.hpp"
#include "hqmm/model/hqmm.hpp"

namespace HQMM_API hqmm {

struct StatePosteriors {
  double log_likelihood = 0.0;  // natural; −∞ with a symbol of probability zero
  RealMatrix states;            // n × length: column t is γ after symbol t
};

// Symbols must be the model's: see require_fitting(). A missing symbol says nothing, nor does
// one of probability zero: the filters treat both alike. Everything is scaled at every step, so
// sequences of any length neither underflow nor overflow.

[[nodiscard]] StatePosteriors state_posteriors(const Hmm& model, const SequenceView& sequence);
[[nodiscard]] StatePosteriors state_posteriors(const EdgeHmm& model, const SequenceView& sequence);

/// Of one symbol of a sequence.
struct PastQuantumState {
  Matrix state;   // ρ_t
  Matrix effect;  // E_t, with tr(E_t ρ_t) = 1
};
/// Calls each(t, pair) for every t (0-based), the last symbol first. If the future contradicts
/// the past by more than rounding, E_t is I. Throws kBadData for a model that is not trace
/// preserving: its weights cannot be conditioned on. Keeps the states of the whole sequence.
void retrodict(const Hqmm& model, const SequenceView& sequence,
               const std::function<void(std::size_t, const PastQuantumState&)>& each);

/// √E ρ √E of trace one, exactly Hermitian.
[[nodiscard]] Matrix smoothed_state(const PastQuantumState& pair);

}  // namespace hqmm
