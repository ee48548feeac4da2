// Forward–backward as it is written down: one sequence, scaled to sum one at every step. What the
// tiled passes are compared with, and how.
#pragma once

#include <vector>

#include "hqmm/engine/classical/forward_backward.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {

/// The twin's counts.
ExpectedCounts twin_counts(const Hmm& model, const SequenceSet& set);

ExpectedCounts counts_of(const Hmm& model, const SequenceSet& set, int threads = 1);

/// Every entry separately: sums of products of positive numbers lose nothing.
void expect_close(const RealMatrix& found, const RealMatrix& expected, const char* what,
                  double tolerance);

void expect_same_counts(const ExpectedCounts& found, const ExpectedCounts& expected,
                        double tolerance = 1e-11);

void expect_twin_counts(const Hmm& model, const SequenceSet& set);

SequenceSet random_set(const Hmm& model, const std::vector<std::size_t>& lengths,
                       RandomStream& random, double missing_share);

/// One column per state.
Hmm make_hmm(const RealMatrix& transition, const RealMatrix& emission, const RealVector& initial);

}  // namespace hqmm::detail::testing
