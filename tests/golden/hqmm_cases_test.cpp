// The filter against an independent implementation's numbers.
#include <gtest/gtest.h>

#include "hqmm/model/filter_likelihood.hpp"
#include "hqmm/model/likelihood.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kTolerance = 1e-12;

TEST(GoldenCases, AreSevenFeasibleModels) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  const auto cases = load_golden_cases(path);
  ASSERT_EQ(cases.size(), 7U);
  for (const GoldenCase& golden : cases) {
    SCOPED_TRACE(golden.name());
    EXPECT_NO_THROW(require_valid(golden.model));
    EXPECT_LE(feasibility_residual(golden.model), kTolerance);
  }
}

TEST(GoldenCases, FilterGivesTheirProbabilitiesAndFinalState) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  for (const GoldenCase& golden : load_golden_cases(path)) {
    SCOPED_TRACE(golden.name());
    HqmmFilter filter(golden.model);
    filter.restart(golden.symbols.size());
    ASSERT_EQ(golden.probabilities.size(), golden.symbols.size() - golden.burn_in);
    for (std::size_t t = 0; t < golden.symbols.size(); ++t) {
      const StepWeight weight = filter.step(golden.symbols[t]);
      if (t < golden.burn_in) continue;
      EXPECT_NEAR(weight.raw / weight.total, golden.probabilities[t - golden.burn_in], kTolerance);
    }
    EXPECT_LE(norm_distance(filter.state(), golden.final_state), kTolerance);
  }
}

TEST(GoldenCases, LogLikelihoodIsTheirs) {
  HQMM_SHARED_OR_SKIP(path, "golden/hqmm_cases.json");
  for (const GoldenCase& golden : load_golden_cases(path)) {
    SCOPED_TRACE(golden.name());
    const SequenceSet set(golden.model.alphabet, {golden.symbols});
    HqmmFilter filter(golden.model);
    const SequenceLikelihood found = log_likelihood(filter, set[0], golden.burn_in);
    EXPECT_NEAR(found.log_likelihood, golden.log_likelihood, kTolerance);
    EXPECT_EQ(found.raw_log_likelihood, found.log_likelihood);
    EXPECT_EQ(found.scored, golden.probabilities.size());
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
