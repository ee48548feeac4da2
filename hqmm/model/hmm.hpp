// Hmm: a classical hidden Markov model, column-stochastic.
//
//   A_ij = P(state i | state j before),  n × n;   C_yi = P(symbol y | state i),  s × n
//   x ← diag(C_y) A x, divided by its sum P(y | x)
//
// `initial` is the state *before* the first transition: P(y₁) = 1ᵀ diag(C_y₁) A · initial.
#pragma once

#include "hqmm/core/export.hpp"
#include "hqmm/core/types.hpp"
#include "hqmm/data/alphabet.hpp"

namespace HQMM_API hqmm {

struct Hmm {
  Alphabet alphabet;
  RealMatrix transition;  // A, n × n
  RealMatrix emission;    // C, s × n
  RealVector initial;     // n

  [[nodiscard]] Index latent_dim() const { return transition.rows(); }
  [[nodiscard]] Index alphabet_size() const { return emission.rows(); }
};

/// Throws kBadData naming what is wrong and by how much: shapes, entries that are negative or not
/// finite, columns that do not sum to 1 (to 1e-9).
void require_valid(const Hmm& model);

}  // namespace hqmm
