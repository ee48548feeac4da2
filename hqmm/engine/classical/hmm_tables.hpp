// HmmTables: a hidden Markov model as the kernels read it, in rows of `stride` doubles that begin
// at a cache line and are padded by zeros.
#pragma once

#include "hqmm/core/aligned.hpp"
#include "hqmm/model/hmm.hpp"

namespace hqmm::detail {

/// Symbols that are turned from rows into columns together.
inline constexpr std::size_t kSymbolBlock = 64;

struct HmmTables {
  /// Keeps nothing of the model.
  explicit HmmTables(const Hmm& model);

  /// Doubles in `emission`, and in a table of counts like it.
  [[nodiscard]] std::size_t emission_size() const { return (symbols + 1) * stride; }

  std::size_t states;   // n
  std::size_t symbols;  // s
  std::size_t stride;
  AlignedDoubles columns;   // column j of A at j · stride
  AlignedDoubles rows;      // row i of A at i · stride
  AlignedDoubles emission;  // C_y at y · stride; after the last symbol the missing one: all ones
  AlignedDoubles initial;
  /// The initial state and the columns of A sum to one up to rounding, so a missing symbol weighs
  /// one. Otherwise its weight has to be taken out, which the kernels cannot.
  bool conserving;
};

}  // namespace hqmm::detail
