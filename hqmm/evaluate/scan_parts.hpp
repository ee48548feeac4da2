// What scanning is made of.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hqmm/evaluate/scan.hpp"

namespace hqmm::detail {

/// P(c | x) of log-odds in bits.
[[nodiscard]] double probability_of(double log_odds);
/// The other way; ±∞ for 0 and 1.
[[nodiscard]] double log_odds_of(double probability);

/// The length of the sequences that position-dependent models are for; nothing for stationary ones.
[[nodiscard]] std::optional<std::size_t> own_length(const AnyModel& model);
/// The same for a classifier; throws kBadData when its models do not agree.
[[nodiscard]] std::optional<std::size_t> own_length(const Classifier& classifier);

/// The symbols that pair with those of DNA or RNA; nothing for other alphabets.
[[nodiscard]] std::optional<std::vector<Symbol>> complements(const Alphabet& alphabet);

/// Order 0: independent symbols, as frequent as they were counted plus one each. If both
/// strands are scanned, a symbol counts for its pair as well.
[[nodiscard]] Hmm independent_symbols(const Alphabet& alphabet,
                                      std::span<const std::uint64_t> counts, Strands strands);

}  // namespace hqmm::detail
