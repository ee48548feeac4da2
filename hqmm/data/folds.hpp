// Folds for cross-validation and held-out shares, without leaks between them.
//
// Folds: groups go one by one, the largest first and those of one size in an order drawn from the
// seed, to the fold that holds the fewest sequences of their class. With groups of one class each,
// two folds then never differ by more sequences of a class than its largest group has.
//
// Held-out share: the groups form a line, class by class; one is held out as soon as the debt,
// share · (sequences seen) − (sequences held out), reaches half its size. The debt therefore
// stays within ± half the largest group, at the end of the line and at the end of every class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/export.hpp"
#include "hqmm/data/sequence_set.hpp"

namespace HQMM_API hqmm {

/// Which sequences must stay on the same side of every split.
struct Grouping {
  enum class Kind {
    kNone,       // every sequence is a group: identical twins may leak
    kIdentical,  // equal sequences stay together
    kHomology,   // single-linkage clusters at ≥ matches equal positions stay together
  };
  Kind kind = Kind::kIdentical;
  std::size_t matches = 0;  // for kHomology, at least 1

  /// "none", "identical", "homology:45" (as text() writes it); throws kUsage.
  static Grouping parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Grouping&, const Grouping&) = default;
};

/// fold[i] in 0 .. folds−1 for every sequence; no fold is empty. Groups are never split. Labelled
/// sets are stratified: each class is spread over the folds as evenly as its groups allow. Throws
/// kUsage if folds < 2 or there are fewer groups than folds. The same seed gives the same folds.
[[nodiscard]] std::vector<std::uint32_t> make_folds(const SequenceSet& set, std::size_t folds,
                                                    const Grouping& grouping, std::uint64_t seed);

/// Indices of sequences, ascending.
struct Split {
  std::vector<std::uint32_t> kept;
  std::vector<std::uint32_t> held_out;
};
/// Splits off about `share` of the sequences (at least one, never all; groups whole, stratified).
/// Throws kUsage when share is not between 0 and 1, or when there are not two groups to separate.
[[nodiscard]] Split hold_out(const SequenceSet& set, double share, const Grouping& grouping,
                             std::uint64_t seed);

}  // namespace hqmm
