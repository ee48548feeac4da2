#include "support/learn.hpp"
#include "hqmm/io/model_bytes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hqmm/io/model_file.hpp"

namespace hqmm::detail::testing {

SmallData draw(const AnyModel& source, std::size_t train_count, std::size_t validation_count,
               std::size_t length, std::uint64_t seed) {
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

TrainOptions quick(LearnerKind learner) {
  TrainOptions options = default_options(learner);
  options.latent_dim = 2;
  options.kraus_rank = 2;
  options.epochs = 4;
  options.restarts = 1;
  options.givens_evaluations = 15;
  options.threads = 1;
  return options;
}

std::string bytes_of(const AnyModel& model) {
  return serialize_model({model, {}}, ModelFormat::kHdf5);
}

double total_log_likelihood(const AnyModel& model, const SequenceSet& set, std::size_t burn_in) {
  double sum = 0.0;
  for (const SequenceLikelihood& one : log_likelihoods(model, set, burn_in, 1))
    sum += one.log_likelihood;
  return sum;
}

double mean_da(const AnyModel& model, const SequenceSet& set, std::size_t burn_in) {
  double sum = 0.0;
  for (const SequenceLikelihood& one : log_likelihoods(model, set, burn_in, 1))
    sum += description_accuracy(one.log_likelihood, one.scored, set.alphabet().size()).value();
  return sum / static_cast<double>(set.size());
}

void expect_valid(const AnyModel& model) {
  EXPECT_NO_THROW(std::visit([](const auto& m) { require_valid(m); }, model));
}

void expect_feasible(const AnyModel& model) {
  expect_valid(model);
  EXPECT_LE(feasibility_residual(model), 1e-12);
}

}  // namespace hqmm::detail::testing
