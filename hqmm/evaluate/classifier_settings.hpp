// The settings a classifier can be learned with: what is recommended for given data, and lists of
// them to choose from, as a grid writes them:
//
//   step-size=0.005,0.01;dropout=0.3,0.5      all four combinations
//
// Options go by their ids, with - or _ between words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/option_table.hpp"

namespace hqmm::detail {

struct ClassifierSetting {
  std::string text;  // what differs from the others: "step-size=0.01 dropout=0.5"; may be empty
  ClassifierOptions options;
};

/// For sequences of one length: separate sets for the middle half, flanks tied; for different
/// lengths: stationary. `why` says which and why, for people.
struct Recommendation {
  ClassifierOptions options;
  std::string why;
};
[[nodiscard]] Recommendation recommended_options(const SequenceSet& data);
/// The same with what the user has given on top, by option id; what a given learner or objective
/// implies for the rest. A map's file is not opened.
[[nodiscard]] Recommendation recommended_options(const SequenceSet& data,
                                                 const GivenOptions& given);

/// What cross-validation chooses from when no grid is given: windows over a third, a half and two
/// thirds of sequences of one length, and how many positions are dropped; without what the user
/// has given.
[[nodiscard]] std::vector<ClassifierSetting> default_settings(const ClassifierOptions& base,
                                                              const SequenceSet& data,
                                                              const GivenOptions& given = {});

/// Every combination of a grid's values on top of `base`; one, `base` itself, for an empty text.
/// Throws kUsage.
[[nodiscard]] std::vector<ClassifierSetting> parse_grid(std::string_view text,
                                                        const ClassifierOptions& base);

}  // namespace hqmm::detail
