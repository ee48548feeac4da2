// EdgeHmm: a hidden Markov model that emits on its edges (Mealy type), one free matrix per symbol.
//
//   (T_y)_ij = P(symbol y, state i | state j before),  n × n;   Σ_y 1ᵀT_y = 1ᵀ
//   x ← T_y x, divided by its sum P(y | x)
//
// An Hmm is the special case T_y = diag(C_y) A, where the symbol depends on the new state alone.
#pragma once

#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/model/hmm.hpp"

namespace HQMM_API hqmm {

struct EdgeHmm {
  Alphabet alphabet;
  std::vector<RealMatrix> edges;  // T_y, n × n each
  RealVector initial;             // n, before the first symbol

  [[nodiscard]] Index latent_dim() const { return initial.size(); }
  [[nodiscard]] Index alphabet_size() const { return static_cast<Index>(edges.size()); }
  /// Σ_y T_y: the step if the symbol is not seen.
  [[nodiscard]] RealMatrix transition() const;
  /// The step after seeing a symbol, one of a set (symbol_sets.hpp), or nothing (kMissing).
  [[nodiscard]] RealMatrix seen(Symbol symbol) const;
};

/// The same process, exactly.
[[nodiscard]] EdgeHmm as_edge_hmm(const Hmm& model);

/// The largest distance from 1 of a column sum.
[[nodiscard]] double feasibility_residual(const EdgeHmm& model);

/// Throws kBadData naming what is wrong and by how much: shapes, entries that are negative or not
/// finite, columns whose sums over all symbols are not 1 (to 1e-9).
void require_valid(const EdgeHmm& model);

}  // namespace hqmm
