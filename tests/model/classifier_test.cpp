// Classifier: what a valid one is, and Bayes' rule on log-likelihoods.
#include "hqmm/model/classifier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hqmm/model/log_posteriors.hpp"
#include "hqmm/model/random_models.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

Classifier two_classes() {
  RandomStream random(1, Purpose::kTest);
  Classifier out;
  out.classes = {"a", "b"};
  for (int c = 0; c < 2; ++c) {
    out.models.emplace_back(
        stationary_hqmm(Alphabet::dna(), random_kraus(4, 2, 2, random), maximally_mixed(2)));
  }
  out.priors = {0.25, 0.75};
  return out;
}

TEST(Classifier, AValidOnePasses) { EXPECT_NO_THROW(require_valid(two_classes())); }

TEST(Classifier, WhatIsWrongIsNamed) {
  const auto refuse = [](std::string_view text, auto&& change) {
    Classifier broken = two_classes();
    change(broken);
    expect_error(ErrorCode::kBadData, text, [&] { require_valid(broken); });
  };
  refuse("at least two classes", [](Classifier& c) { c.classes.resize(1); });
  refuse("names must differ", [](Classifier& c) { c.classes[1] = "a"; });
  refuse("byte order", [](Classifier& c) { c.classes[0] = "c"; });
  refuse("1 models", [](Classifier& c) { c.models.pop_back(); });
  refuse("3 priors", [](Classifier& c) { c.priors.push_back(0.1); });
  refuse("class 'b': the prior", [](Classifier& c) { c.priors[1] = 0.0; });
  refuse("class 'a': the prior", [](Classifier& c) { c.priors[0] = std::nan(""); });
  refuse("sum to", [](Classifier& c) { c.priors[0] = 0.26; });
  refuse("class 'b': its alphabet",
         [](Classifier& c) { std::get<Hqmm>(c.models[1]).alphabet = Alphabet::rna(); });
  refuse("class 'b': ", [](Classifier& c) { std::get<Hqmm>(c.models[1]).initial_state *= 2.0; });
}

TEST(LogPosteriors, IsBayesRule) {
  const std::vector<double> found =
      log_posteriors(std::vector{std::log(0.2), std::log(0.4)}, std::vector{0.25, 0.75});
  EXPECT_NEAR(std::exp(found[0]), 0.05 / 0.35, 1e-15);
  EXPECT_NEAR(std::exp(found[1]), 0.30 / 0.35, 1e-15);
}

TEST(LogPosteriors, SurvivesLikelihoodsOfLongSequences) {
  const std::vector<double> found =
      log_posteriors(std::vector{-100000.0, -100001.0}, std::vector{0.5, 0.5});
  EXPECT_NEAR(std::exp(found[0]), 1.0 / (1.0 + std::exp(-1.0)), 1e-12);
}

TEST(LogPosteriors, ImpossibleClassesAndThePriorWhenAllAre) {
  const std::vector<double> one =
      log_posteriors(std::vector{kImpossible, -5.0}, std::vector{0.9, 0.1});
  EXPECT_EQ(one[0], kImpossible);
  EXPECT_EQ(one[1], 0.0);
  const std::vector<double> none =
      log_posteriors(std::vector{kImpossible, kImpossible}, std::vector{0.9, 0.1});
  EXPECT_DOUBLE_EQ(std::exp(none[0]), 0.9);
  EXPECT_DOUBLE_EQ(std::exp(none[1]), 0.1);
}

}  // namespace
}  // namespace hqmm::detail::testing
