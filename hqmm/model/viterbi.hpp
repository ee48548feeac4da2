// Viterbi decoding: the single most probable path of an HMM's hidden states through a sequence.
//
//   max over z₁ … z_T of P(z₁ … z_T, y₁ … y_T)
//
// z_t is the state after symbol t; that before the first symbol is summed over, so that the first
// state is drawn from A · initial, as other libraries have it. A missing symbol says nothing: its
// step may be any. Logarithms are scaled at every step, so sequences of any length neither
// underflow nor overflow.
#pragma once

#include <cstdint>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"
#include "hqmm/model/edge_hmm.hpp"

namespace HQMM_API hqmm {

struct StatePath {
  double log_probability = 0.0;       // of the path and the symbols together, natural
  std::vector<std::uint32_t> states;  // one for each symbol; of equally probable ones the lowest
};

/// A symbol that no path can emit makes the log-probability −∞ and counts as missing for the path,
/// like in the filters. Symbols must be the model's: see require_fitting(). Memory beyond the
/// result: 4096 steps, and n numbers for each 4096 symbols.
[[nodiscard]] StatePath most_probable_path(const Hmm& model, const SequenceView& sequence);
[[nodiscard]] StatePath most_probable_path(const EdgeHmm& model, const SequenceView& sequence);

}  // namespace hqmm
