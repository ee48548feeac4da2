// The paper's data under the models that generated it: known description accuracies.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "golden/golden.hpp"
#include "hqmm/evaluate/score.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support.hpp"

namespace hqmm::testing {
namespace {

template <typename Path>
SequenceSet read_integers(const Path& path) {
  SequenceSet set(Alphabet::integers(6));
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    for (Symbol symbol = 0; words >> symbol;) set.push_back(symbol);
    set.end_sequence();
  }
  return set;
}

RealMatrix real_matrix(const nlohmann::json& rows) {
  RealMatrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) {
      out(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
    }
  }
  return out;
}

void expect_accuracy(const AnyModel& model, const SequenceSet& set, std::size_t sequences,
                     double accuracy) {
  const Score found = score(model, set, kBenchmarkBurnIn);
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
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  const Hmm hmm = synthetic_hmm();
  EXPECT_EQ(hmm.transition, real_matrix(json.at("transition_column_stochastic")));
  EXPECT_EQ(hmm.emission, real_matrix(json.at("emission_column_stochastic")));
  EXPECT_NO_THROW(require_valid(hmm));
}

TEST(TrueModels, HqmmIsTheOneOnFile) {
  HQMM_SHARED_OR_SKIP(path, "data/synthetic-hqmm/true_model.json");
  std::ifstream file(path);
  const Hqmm model = synthetic_hqmm();
  const Stack on_file = stack_from_json(nlohmann::json::parse(file).at("kraus"), 2);
  EXPECT_LE((model.sets.front().gamma() - on_file).norm(), 1e-15);
  EXPECT_LE(feasibility_residual(model), 1e-15);
  EXPECT_NO_THROW(require_valid(model));
}

}  // namespace
}  // namespace hqmm::testing
