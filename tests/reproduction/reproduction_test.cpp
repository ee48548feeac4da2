// The reproduction: its plan, what a cell is trained with, and what cells add up to.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hqmm/core/error.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/synthetic.hpp"
#include "hqmm/reproduction/summary.hpp"

namespace hqmm::detail::reproduction {
namespace {

std::vector<Cell> plan_of(Study study, std::size_t seeds = 2, bool quick = false) {
  return make_plan({{study}, seeds, 1, quick});
}

TEST(Plan, NamesAreUnique) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm, Study::kSplice}) {
    for (const Cell& cell : plan_of(study)) {
      names.insert(name_of(cell));
      ++count;
      EXPECT_EQ(cell.study, study);
    }
  }
  EXPECT_EQ(names.size(), count);
}

TEST(Plan, HasThePapersGridForEveryMethod) {
  const std::vector<Cell> plan = plan_of(Study::kSyntheticHmm, 1);
  const auto has = [&](Method method, Index n, Index w) {
    return std::any_of(plan.begin(), plan.end(), [&](const Cell& cell) {
      return cell.method == method && cell.latent_dim == n && cell.kraus_rank == w;
    });
  };
  for (const Method method :
       {Method::kNsRisLiteral, Method::kNsRisPaper, Method::kNsRis, Method::kCosm}) {
    for (Index n = 2; n <= 6; ++n) EXPECT_TRUE(has(method, n, 1)) << name_of(method) << n;
    for (Index w = 1; w <= 6; ++w) EXPECT_TRUE(has(method, 6, w)) << name_of(method) << w;
  }
  for (Index n = 2; n <= 6; ++n) {
    EXPECT_TRUE(has(Method::kEm, n, 0));
    EXPECT_TRUE(has(Method::kGivens, n, 1));
    EXPECT_TRUE(has(Method::kNsRisWarm, n, n));
  }
  const std::vector<Cell> splice = plan_of(Study::kSplice, 1);
  EXPECT_EQ(splice.size(), 2U * (4U * 4U * 4U + 4U));  // protocols × (n × w × methods + EM)
}

TEST(Plan, SeedsMultiplyButForQuick) {
  for (const Study study : {Study::kSyntheticHmm, Study::kSplice})
    EXPECT_EQ(plan_of(study, 3).size(), 3 * plan_of(study, 1).size());
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm, Study::kSplice}) {
    const std::vector<Cell> quick = plan_of(study, 3, true);
    const std::vector<Cell> whole = plan_of(study, 3);
    EXPECT_LT(quick.size(), whole.size());
    for (const Cell& cell : quick)
      EXPECT_NE(std::find(whole.begin(), whole.end(), cell), whole.end()) << name_of(cell);
  }
}

TEST(Plan, StudiesHaveNames) {
  for (const Study study : {Study::kSyntheticHmm, Study::kSyntheticHqmm, Study::kSplice})
    EXPECT_EQ(parse_study(name_of(study)), study);
  EXPECT_THROW((void)parse_study("hmm"), Error);
}

TEST(Methods, HaveNamesThatReadBack) {
  std::set<std::string_view> names;
  for (const MethodTraits& one : all_methods()) {
    EXPECT_EQ(parse_method(one.name), one.method);
    EXPECT_EQ(traits_of(one.method).name, one.name);
    names.insert(one.name);
  }
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(name_of(Method::kNsRisLiteralSmall), "ns-ris-literal-small");
  EXPECT_THROW((void)parse_method("sgd"), Error);
}

TEST(Methods, SomeHaveARankOfTheirOwn) {
  EXPECT_EQ(rank_of(Method::kEm, 4, 2), 0);
  EXPECT_EQ(rank_of(Method::kNsRisWarm, 4, 2), 4);
  EXPECT_EQ(rank_of(Method::kCosm, 4, 2), 2);
}

TEST(CellOptions, FollowTheProtocol) {
  Cell cell;
  cell.method = Method::kNsRisLiteral;
  cell.latent_dim = 3;
  cell.seed = 7;
  TrainOptions options = cell_options(cell, 5.0, 6);
  EXPECT_EQ(options.retraction, RetractionKind::kLiteral);
  EXPECT_EQ(options.burn_in, 100U);
  EXPECT_EQ(options.batch_size, 1U);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.time_limit, 0.0);
  EXPECT_EQ(options.step_size, 0.85);  // COSM's for (3, 6, 1)
  EXPECT_EQ(options.step_decay, 0.92);
  cell.method = Method::kNsRisLiteralSmall;
  options = cell_options(cell, 5.0, 6);
  EXPECT_EQ(options.retraction, RetractionKind::kLiteral);
  EXPECT_EQ(options.step_size, 0.2);
  cell.method = Method::kNsRisPaper;
  cell.latent_dim = 4;  // where the paper had its own
  EXPECT_EQ(cell_options(cell, 5.0, 6).step_size, 0.2);
  cell.latent_dim = 3;
  cell.method = Method::kCosm;
  EXPECT_EQ(cell_options(cell, 5.0, 6).batch_size, 20U);
  cell.method = Method::kNsRis;
  options = cell_options(cell, 5.0, 6);
  EXPECT_EQ(options.schedule, ScheduleKind::kCosine);
  EXPECT_EQ(options.restarts, 2U);
  EXPECT_EQ(options.retraction, RetractionKind::kFeasible);
  cell.method = Method::kGivens;
  EXPECT_EQ(cell_options(cell, 5.0, 6).time_limit, 5.0);
  cell.method = Method::kEm;
  cell.kraus_rank = 0;
  EXPECT_EQ(cell_options(cell, 5.0, 6).learner, LearnerKind::kEm);
}

SyntheticData small_data() {
  SyntheticData data;
  data.truth = synthetic_hqmm();
  const auto draw = [&](std::size_t first, std::size_t count) {
    SampleOptions options;
    options.count = count;
    options.length = 1100;
    options.seed = 3;
    options.first_index = first;
    return sample(data.truth, options);
  };
  data.train = draw(0, 2);
  data.validation = draw(2, 2);
  data.test = draw(4, 3);
  return data;
}

TEST(SyntheticCell, IsScoredNormalisedWithTheRawClaimBesideIt) {
  const SyntheticData data = small_data();
  Cell cell;
  cell.study = Study::kSyntheticHqmm;
  cell.method = Method::kNsRisLiteral;
  const auto never = [] { return false; };
  const auto literal = run_synthetic_cell(cell, data, 60.0, never);
  ASSERT_TRUE(literal);
  EXPECT_EQ(literal->test_da.size(), 3U);
  ASSERT_TRUE(literal->test.raw_da);
  EXPECT_GT(literal->residual, 1e-3);
  // The identity: what is gained by not normalising lies between the singular values' gains.
  const double gain = *literal->test.raw_da - literal->test.da;
  EXPECT_LE(gain, raw_gain(literal->largest_singular, 6) + 1e-12);
  EXPECT_GE(gain, raw_gain(literal->smallest_singular, 6) - 1e-12);
  cell.method = Method::kNsRis;
  const auto ours = run_synthetic_cell(cell, data, 60.0, never);
  ASSERT_TRUE(ours);
  EXPECT_FALSE(ours->test.raw_da);
  EXPECT_NEAR(ours->largest_singular, 1.0, 1e-12);
  EXPECT_FALSE(run_synthetic_cell(cell, data, 60.0, [] { return true; }));  // stopped
}

TEST(Literal, ScaleAndRangeOfThePolynomial) {
  EXPECT_NEAR(literal_scale(6, 5), 1.1046, 5e-5);
  EXPECT_NEAR(literal_scale(1, 1), 3.4445 - 4.7750 + 2.0315, 1e-15);
  const Range range = literal_range(5);
  EXPECT_NEAR(range.least, 0.682, 1e-3);
  EXPECT_NEAR(range.greatest, 1.134, 1e-3);
  EXPECT_NEAR(raw_gain(std::sqrt(6.0), 6), 1.0, 1e-15);
}

CellResult result_of(Method method, Index w, std::uint64_t seed, std::vector<double> test_da,
                     double validation = 0.0) {
  CellResult out;
  out.cell.method = method;
  out.cell.kraus_rank = w;
  out.cell.seed = seed;
  SyntheticOutcome outcome;
  outcome.test.da = spread(test_da).mean;
  outcome.test_da = std::move(test_da);
  outcome.validation.da = validation;
  out.outcome = outcome;
  return out;
}

TEST(Summary, GroupsSeedsAndPicksByValidation) {
  const std::vector<CellResult> results{result_of(Method::kNsRis, 1, 1, {0.1, 0.2, 0.3}, 0.5),
                                        result_of(Method::kNsRis, 1, 2, {0.3, 0.2, 0.1}, 0.5),
                                        result_of(Method::kNsRis, 2, 1, {0.2, 0.2, 0.2}, 0.7),
                                        result_of(Method::kEm, 0, 1, {0.0, 0.1, 0.1}, 0.2)};
  const std::vector<Group> groups = group_results(results);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].seeds, 2U);
  EXPECT_NEAR(groups[0].test_da[0], 0.2, 1e-15);
  EXPECT_EQ(groups[0].raw.count, 0U);
  const Group* best = best_on_validation(groups, Study::kSyntheticHmm, Method::kNsRis, 2);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->cell.kraus_rank, 2);
  const std::vector<Comparison> tests = compare(groups, Study::kSyntheticHmm);
  ASSERT_EQ(tests.size(), 1U);  // no COSM, no warm start
  EXPECT_NEAR(tests[0].test.difference, 0.4 / 3.0, 1e-15);
  EXPECT_EQ(tests[0].corrected_p, tests[0].test.p);
}

TEST(Summary, NoticesWhatLiesAboveTheTrueModel) {
  const std::vector<CellResult> results{result_of(Method::kEm, 0, 1, {0.11, 0.19, 0.31}),
                                        result_of(Method::kNsRis, 1, 1, {0.2, 0.31, 0.4})};
  SyntheticOutcome truth;
  truth.test_da = {0.1, 0.2, 0.3};
  const std::vector<Group> groups = group_results(results);
  const auto found = above_truth(groups, {{Study::kSyntheticHmm, truth}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cell.method, Method::kNsRis);
}

}  // namespace
}  // namespace hqmm::detail::reproduction
