// Shared by the learner tests: small data, small runs, and what a run left behind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"

namespace hqmm::detail::testing {

/// For runs that nobody interrupts.
inline const StopRequest kNever = [] { return false; };

/// Training and validation sequences of one source, independent of each other.
struct SmallData {
  SequenceSet train;
  SequenceSet validation;
};

SmallData draw(const AnyModel& source, std::size_t train_count, std::size_t validation_count,
               std::size_t length, std::uint64_t seed = 5);

/// A run of a second or less on a few hundred symbols.
TrainOptions quick(LearnerKind learner);

inline constexpr LearnerKind kAllLearners[] = {LearnerKind::kNsRis, LearnerKind::kCosm,
                                               LearnerKind::kGivens, LearnerKind::kEm};

std::string bytes_of(const AnyModel& model);

double total_log_likelihood(const AnyModel& model, const SequenceSet& set, std::size_t burn_in = 0);

/// Mean description accuracy of a set.
double mean_da(const AnyModel& model, const SequenceSet& set, std::size_t burn_in = 0);

/// Finite, of the right shapes, a density matrix or stochastic columns.
void expect_valid(const AnyModel& model);

/// Valid and trace preserving to rounding.
void expect_feasible(const AnyModel& model);

}  // namespace hqmm::detail::testing
