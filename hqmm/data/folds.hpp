// Folds for cross-validation and held-out shares, without leaks between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/data/sequence_set.hpp"

namespace hqmm {

/// Which sequences must stay on the same side of every split.
struct Grouping {
  enum class Kind {
    kNone,       // every sequence by itself: identical twins may leak
    kIdentical,  // equal sequences stay together
    kHomology,   // single-linkage clusters at ≥ matches equal positions stay together
  };
  Kind kind = Kind::kIdentical;
  std::size_t matches = 0;  // for kHomology

  /// "none", "identical", "homology:45"; throws kUsage.
  static Grouping parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// group[i] for every sequence, numbered by first appearance. Homology compares sequences of the same
/// length position by position; a missing symbol matches nothing. Equal sequences always share a group
/// under kIdentical and kHomology.
[[nodiscard]] std::vector<std::uint32_t> group_sequences(const SequenceSet& set,
                                                         const Grouping& grouping);

/// fold[i] in 0 .. folds−1 for every sequence. Groups are never split. Labelled sets are stratified: each
/// class is spread over the folds as evenly as its groups allow. Throws kUsage when folds < 2 or there
/// are fewer groups than folds. The same seed gives the same folds.
[[nodiscard]] std::vector<std::uint32_t> make_folds(const SequenceSet& set, std::size_t folds,
                                                    const Grouping& grouping, std::uint64_t seed);

/// Splits off about `share` of the sequences (at least one, never all; groups whole, stratified).
struct Split {
  std::vector<std::uint32_t> kept;
  std::vector<std::uint32_t> held_out;
};
[[nodiscard]] Split hold_out(const SequenceSet& set, double share, const Grouping& grouping,
                             std::uint64_t seed);

}  // namespace hqmm
