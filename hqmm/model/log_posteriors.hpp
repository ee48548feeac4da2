// Bayes' rule.
#pragma once

#include <span>
#include <vector>

namespace hqmm::detail {

/// log P(c | x) from the classes' log-likelihoods; −∞ where a class cannot have made x. When none
/// can, the prior is all that is known.
[[nodiscard]] std::vector<double> log_posteriors(std::span<const double> log_likelihoods,
                                                 std::span<const double> priors);

}  // namespace hqmm::detail
