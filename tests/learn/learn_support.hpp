// Shared by the learner tests: small data, small runs, and what a run left behind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hqmm/io/model_file.hpp"
#include "hqmm/learn/trainer.hpp"
#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"

namespace hqmm::testing {

/// For runs that nobody interrupts.
inline const StopRequest kNever = [] { return false; };

/// Training and validation sequences of one source, independent of each other.
struct SmallData {
  SequenceSet train;
  SequenceSet validation;
};

inline SmallData draw(const AnyModel& source, std::size_t train_count, std::size_t validation_count,
                      std::size_t length, std::uint64_t seed = 5) {
  SampleOptions options;
  options.count = train_count;
  options.length = length;
  options.seed = seed;
  options.threads = 1;
  SmallData out;
  out.train = sample(source, options);
  options.first_index = 1000;
  options.count = validation_count;
  out.validation = sample(source, options);
  return out;
}

/// A run of a second or less on a few hundred symbols.
inline TrainOptions quick(LearnerKind learner) {
  TrainOptions options = default_options(learner);
  options.latent_dim = 2;
  options.kraus_rank = 2;
  options.epochs = 4;
  options.restarts = 1;
  options.givens_evaluations = 15;
  options.threads = 1;
  return options;
}

inline constexpr LearnerKind kAllLearners[] = {LearnerKind::kNsRis, LearnerKind::kCosm,
                                               LearnerKind::kGivens, LearnerKind::kEm};

inline std::string bytes_of(const AnyModel& model) {
  return serialize_model({model, {}}, ModelFormat::kHdf5);
}

inline double total_log_likelihood(const AnyModel& model, const SequenceSet& set,
                                   std::size_t burn_in = 0) {
  double sum = 0.0;
  for (const SequenceLikelihood& one : log_likelihoods(model, set, burn_in, 1))
    sum += one.log_likelihood;
  return sum;
}

/// Mean description accuracy of a set.
inline double mean_da(const AnyModel& model, const SequenceSet& set, std::size_t burn_in = 0) {
  double sum = 0.0;
  for (const SequenceLikelihood& one : log_likelihoods(model, set, burn_in, 1))
    sum += description_accuracy(one.log_likelihood, one.scored, set.alphabet().size()).value();
  return sum / static_cast<double>(set.size());
}

/// Finite, of the right shapes, a density matrix or stochastic columns.
inline void expect_valid(const AnyModel& model) {
  EXPECT_NO_THROW(std::visit([](const auto& m) { require_valid(m); }, model));
}

/// Valid and trace preserving to rounding.
inline void expect_feasible(const AnyModel& model) {
  expect_valid(model);
  EXPECT_LE(feasibility_residual(model), 1e-12);
}

}  // namespace hqmm::testing
