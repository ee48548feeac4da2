// Every long call ends inside of one long sequence: its loops look for an interruption themselves.
#include "hqmm/core/interruption.hpp"

#include <gtest/gtest.h>

#include "hqmm/evaluate/chain_baseline.hpp"
#include "hqmm/evaluate/explain.hpp"
#include "hqmm/model/channel.hpp"
#include "hqmm/model/retrodiction.hpp"
#include "hqmm/model/sample.hpp"
#include "hqmm/model/viterbi.hpp"
#include "hqmm/score/score.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail::testing {
namespace {

/// Says yes when it is asked for the tenth time: more often than there are sequences.
void expect_interrupted(const char* what, const std::function<void()>& call) {
  int asked = 0;
  const std::function<bool()> soon = [&] { return ++asked >= 10; };
  const InterruptionScope scope(&soon);
  try {
    call();
    ADD_FAILURE() << what << " was asked " << asked << " times only";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInterrupted) << what;
  }
  EXPECT_EQ(asked, 10) << what;
}

SequenceSet long_sequence() {
  SequenceSet set(Alphabet::integers(3));
  RandomStream random(1, Purpose::kTest);
  for (int t = 0; t < 3000; ++t) set.push_back(static_cast<Symbol>(random.below(3)));
  set.end_sequence();
  return set;
}

TEST(LongCalls, OfAnyModelEndInsideOfASequence) {
  RandomStream random(2, Purpose::kTest);
  const SequenceSet set = long_sequence();
  const Hmm hmm = random_started_hmm(3, 3, random);
  const std::vector<AnyModel> models{random_hqmm({3, 3, 2}, random), hmm, as_edge_hmm(hmm)};
  for (const AnyModel& model : models) {
    expect_interrupted("score", [&] { (void)score(model, set, {.burn_in = 0, .threads = 1}); });
    expect_interrupted("sample", [&] { (void)sample(model, {.count = 1, .length = 3000}); });
    std::visit(
        [&](const auto& m) {
          expect_interrupted("entropy rate", [&] { (void)entropy_rate(m, {3000, 1, 1}); });
        },
        model);
  }
}

TEST(LongCalls, AboutHiddenStatesEndInsideOfASequence) {
  RandomStream random(3, Purpose::kTest);
  const SequenceSet set = long_sequence();
  const Hmm hmm = random_started_hmm(3, 3, random);
  const Hqmm hqmm = random_hqmm({3, 3, 2}, random);
  expect_interrupted("viterbi", [&] { (void)most_probable_path(hmm, set[0]); });
  expect_interrupted("posteriors", [&] { (void)state_posteriors(as_edge_hmm(hmm), set[0]); });
  expect_interrupted("retrodict",
                     [&] { retrodict(hqmm, set[0], [](std::size_t, const PastQuantumState&) {}); });
  Classifier classifier;
  classifier.classes = {"a", "b"};
  classifier.models = {hmm, hqmm};
  classifier.priors = {0.5, 0.5};
  expect_interrupted("explain", [&] { (void)contributions(classifier, set[0]); });
  expect_interrupted("baseline", [&] {
    (void)chain_baseline(set, set, nullptr, {{1}, 1.0, 0, 1});
  });
}

}  // namespace
}  // namespace hqmm::detail::testing
