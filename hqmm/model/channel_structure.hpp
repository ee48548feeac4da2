// What a channel is made of: how many operators each symbol needs, which subspaces it never leaves,
// and in what order it visits their parts.
//
// Everything is computed over the complex numbers, for real models too. A probability below 1e-9
// counts as zero.
#pragma once

#include <optional>
#include <vector>

#include "hqmm/model/channel.hpp"

namespace hqmm::detail {

/// How many linearly independent operators there are: the fewest that do the same.
struct ChoiRanks {
  std::vector<Index> of_symbol;
  Index of_channel = 0;  // with the symbol unseen
};
/// Nothing where it would take long: beyond 10⁸ operations.
[[nodiscard]] std::optional<ChoiRanks> choi_ranks(const KrausSet& set);

/// ‖T(I) − I‖_F of the channel T; ‖A1 − 1‖ of an HMM, 0 where rows sum to one too.
[[nodiscard]] double unitality_residual(const KrausSet& set);
[[nodiscard]] double unitality_residual(const RealMatrix& transition);
inline constexpr double kUnitalTolerance = 1e-9;

/// A subspace that is never left and has no smaller one inside.
struct RecurrentBlock {
  Matrix basis;               // n × d, orthonormal columns
  double weight = 0.0;        // its share of the fixed point
  std::vector<Matrix> cycle;  // bases of the parts P_0 → P_1 → … → P_0: as many as the period
};
struct ChannelStructure {
  Index transient = 0;                 // dimensions that are left for good
  std::vector<RecurrentBlock> blocks;  // orthogonal to one another
  bool unique = true;                  // false: equal blocks, of which any mixture is one too
  Index lasting_coherences = 0;        // peripheral eigenvalues beside those of the periods
};
inline constexpr Index kStructureUpTo = 16;  // states
/// Nothing beyond n = 16, and of channels that are not trace preserving.
[[nodiscard]] std::optional<ChannelStructure> channel_structure(const KrausSet& set,
                                                                const FixedPoint& fixed_point);

/// The same of a Markov chain: its classes of states. Any size.
struct RecurrentClass {
  std::vector<Index> states;
  std::vector<std::vector<Index>> cycle;
};
struct ChainStructure {
  std::vector<Index> transient;
  std::vector<RecurrentClass> classes;
};
[[nodiscard]] ChainStructure chain_structure(const RealMatrix& transition);

}  // namespace hqmm::detail
