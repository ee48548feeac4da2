// EM for HMMs that emit on their edges: what must hold of every iteration, and of whole runs.
#include "hqmm/learn/edge_baum_welch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hqmm/learn/start.hpp"
#include "support/learn.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::quick;
using testing::random_symbols;

const StopRequest kNever = [] { return false; };

TrainOptions edge_options(Index n) {
  TrainOptions options = quick(LearnerKind::kEm);
  options.emission = EmissionKind::kEdge;
  options.latent_dim = n;
  return options;
}

SequenceSet with_missing(std::uint64_t index) {
  RandomStream random(71, Purpose::kTest, index);
  SequenceSet set(Alphabet::integers(3));
  for (std::size_t length : {40UL, 1UL, 25UL}) {
    for (const Symbol symbol : random_symbols(length, 3, random, 0.2)) set.push_back(symbol);
    set.end_sequence();
  }
  return set;
}

TEST(EdgeBaumWelch, NeverLowersTheLikelihood) {
  for (const Index n : {1, 2, 4}) {
    const SequenceSet set = with_missing(static_cast<std::uint64_t>(n));
    RandomStream random(72, Purpose::kTest);
    EdgeBaumWelch em(random_edge_hmm(set.alphabet(), n, random), set, edge_options(n));
    double first = 0.0;
    double last = -std::numeric_limits<double>::infinity();
    for (std::size_t iteration = 0; iteration < 40; ++iteration) {
      const double now = em.run_epoch(iteration, kNever).log_likelihood;
      EXPECT_GE(now, last - 1e-9 * std::abs(now)) << "n=" << n << " iteration " << iteration;
      if (iteration == 0) first = now;
      last = now;
      testing::expect_feasible(em.candidate());
    }
    EXPECT_GT(last, first + 1.0);
    EXPECT_NEAR(testing::total_log_likelihood(em.candidate(), set), last, 1.0);
  }
}

TEST(EdgeBaumWelch, GoesOnFromItsStateAsIfNeverInterrupted) {
  const SequenceSet set = with_missing(9);
  RandomStream random(73, Purpose::kTest);
  const EdgeHmm start = random_edge_hmm(set.alphabet(), 3, random);
  EdgeBaumWelch whole(start, set, edge_options(3));
  for (std::size_t epoch = 0; epoch < 3; ++epoch) whole.run_epoch(epoch, kNever);
  EdgeBaumWelch rest(random_edge_hmm(set.alphabet(), 3, random), set, edge_options(3));
  rest.load(whole.save());
  EXPECT_EQ(whole.run_epoch(3, kNever).log_likelihood, rest.run_epoch(3, kNever).log_likelihood);
  EXPECT_EQ(testing::bytes_of(whole.candidate()), testing::bytes_of(rest.candidate()));
  EdgeBaumWelch smaller(random_edge_hmm(set.alphabet(), 2, random), set, edge_options(2));
  testing::expect_error(ErrorCode::kBadData, "does not match", [&] { smaller.load(whole.save()); });
}

TEST(EdgeBaumWelch, AnUnseenSymbolGetsHalfACount) {
  const SequenceSet set(Alphabet::integers(3), {{0, 1, 0, 0, 1}, {1, 0, 0, 1, 1}});
  RandomStream random(74, Purpose::kTest);
  EdgeBaumWelch em(random_edge_hmm(set.alphabet(), 1, random), set, edge_options(1));
  em.run_epoch(0, kNever);
  const auto hmm = std::get<EdgeHmm>(em.candidate());
  EXPECT_NEAR(hmm.edges[2](0, 0), 0.5 / 10.5, 1e-12);
}

TEST(EdgeBaumWelch, LearnsWhatAnHmmOfItsSizeCannot) {
  // The even process: ones come in runs of even length, which takes a state between two ones.
  EdgeHmm even{Alphabet::integers(2), {RealMatrix::Zero(2, 2), RealMatrix::Zero(2, 2)}, {}};
  even.edges[0](0, 0) = 0.5;
  even.edges[1](1, 0) = 0.5;
  even.edges[1](0, 1) = 1.0;
  even.initial = RealVector::Unit(2, 0);
  const testing::SmallData data = testing::draw(even, 40, 20, 60);
  TrainOptions options = edge_options(2);
  options.epochs = 200;
  options.restarts = 4;
  const TrainResult edge = train(data.train, data.validation, options);
  ASSERT_TRUE(std::holds_alternative<EdgeHmm>(edge.model));
  options.emission = EmissionKind::kState;
  const TrainResult state = train(data.train, data.validation, options);
  const double truth = testing::total_log_likelihood(even, data.validation);
  const double found = testing::total_log_likelihood(edge.model, data.validation);
  EXPECT_GT(found, truth - 12.0);
  EXPECT_GT(found, testing::total_log_likelihood(state.model, data.validation) + 20.0);
}

TEST(EdgeBaumWelch, StartsFromAnHmmOfEitherType) {
  RandomStream random(75, Purpose::kTest);
  const Hmm hmm = testing::random_started_hmm(3, 3, random);
  const EdgeHmm edge = testing::random_started_edge_hmm(3, 3, random);
  TrainOptions options = edge_options(3);
  EXPECT_TRUE(std::holds_alternative<EdgeHmm>(warm_start(hmm, options, hmm.alphabet, 0).model));
  EXPECT_TRUE(std::holds_alternative<EdgeHmm>(warm_start(edge, options, hmm.alphabet, 0).model));
  options.emission = EmissionKind::kState;
  testing::expect_error(ErrorCode::kUsage, "emission edge",
                        [&] { static_cast<void>(warm_start(edge, options, hmm.alphabet, 0)); });
  options.learner = LearnerKind::kNsRis;
  options.kraus_rank = 3;
  testing::expect_error(ErrorCode::kUsage, "emission edge",
                        [&] { static_cast<void>(warm_start(edge, options, hmm.alphabet, 0)); });
  options.emission = EmissionKind::kEdge;
  const Start start = warm_start(edge, options, hmm.alphabet, 0);
  const SequenceSet set = with_missing(3);
  EXPECT_NEAR(testing::total_log_likelihood(start.keep.value(), set),
              testing::total_log_likelihood(edge, set), 1e-9);
}

}  // namespace
}  // namespace hqmm::detail
