// The paper's data under the models that generated it: known description accuracies.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hqmm/model/synthetic.hpp"
#include "hqmm/score/score.hpp"
#include "support/golden.hpp"
#include "support/matrices.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

SequenceSet read_integers(const std::filesystem::path& path) {
  SequenceSet set(Alphabet::integers(6));
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    for (Symbol symbol = 0; words >> symbol;) set.push_back(symbol);
    set.end_sequence();
  }
  return set;
}

void expect_accuracy(const AnyModel& model, const SequenceSet& set, std::size_t sequences,
                     double accuracy) {
  const Score found = score(model, set, {.burn_in = kBenchmarkBurnIn});
  EXPECT_EQ(found.sequences, sequences);
  EXPECT_EQ(found.symbols, sequences * (kBenchmarkLength - kBenchmarkBurnIn));
  EXPECT_NEAR(found.da_mean.value(), accuracy, 1e-8);
}

TEST(TrueModels, HmmScoresItsData) {
  HQMM_SHARED_OR_SKIP(train, "data/synthetic-hmm/train.txt");
  HQMM_SHARED_OR_SKIP(validation, "data/synthetic-hmm/validation.txt");
  HQMM_SHARED_OR_SKIP(test, "data/synthetic-hmm/test.txt");
  expect_accuracy(synthetic_hmm(), read_integers(train), 20, 0.18376170);
  expect_accuracy(synthetic_hmm(), read_integers(validation), 10, 0.19027380);
  expect_accuracy(synthetic_hmm(), read_integers(test), 10, 0.18008487);
}

TEST(TrueModels, HqmmScoresItsData) {
  HQMM_SHARED_OR_SKIP(train, "data/synthetic-hqmm/train.txt");
  HQMM_SHARED_OR_SKIP(validation, "data/synthetic-hqmm/validation.txt");
  HQMM_SHARED_OR_SKIP(test, "data/synthetic-hqmm/test.txt");
  expect_accuracy(synthetic_hqmm(), read_integers(train), 20, 0.13030170);
  expect_accuracy(synthetic_hqmm(), read_integers(validation), 10, 0.13027268);
  expect_accuracy(synthetic_hqmm(), read_integers(test), 10, 0.12963438);
}

TEST(TrueModels, HmmIsTheOneOnFile) {
  HQMM_SHARED_OR_SKIP(path, "data/synthetic-hmm/true_model.json");
  const HmmOnFile on_file = load_true_hmm(path);
  const Hmm hmm = synthetic_hmm();
  EXPECT_EQ(norm_distance(hmm.transition, on_file.transition), 0.0);
  EXPECT_EQ(norm_distance(hmm.emission, on_file.emission), 0.0);
  EXPECT_NO_THROW(require_valid(hmm));
}

TEST(TrueModels, HqmmIsTheOneOnFile) {
  HQMM_SHARED_OR_SKIP(path, "data/synthetic-hqmm/true_model.json");
  const Hqmm model = synthetic_hqmm();
  EXPECT_LE(norm_distance(model.sets.front().gamma(), load_true_kraus(path)), 1e-15);
  EXPECT_LE(feasibility_residual(model), 1e-15);
  EXPECT_NO_THROW(require_valid(model));
}

}  // namespace
}  // namespace hqmm::detail::testing
