// Sparse Markov chains: the dense ones' probabilities, sums over all sequences, missing symbols.
#include "hqmm/evaluate/context_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hqmm/evaluate/baselines.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

SequenceSet some_sequences() {
  return SequenceSet(
      Alphabet::integers(3),
      {{0, 1, 2, 1, 0, 2, 2, 1, 0, 1}, {2, 1, 2, 1, 2, 0}, {0, 0, kMissing, 1, 1, 2, 0}});
}

TEST(ContextChain, IsTheDenseChain) {
  const SequenceSet data = some_sequences();
  std::vector<std::uint32_t> rows(data.size());
  std::iota(rows.begin(), rows.end(), 0U);
  const ContextChain chain(data, 4);
  const SequenceSet other(Alphabet::integers(3), {{1, 0, 2, 2, 1, 1, 0, 0, 2}});
  for (std::size_t order = 0; order <= 4; ++order) {
    for (const double pseudo_count : {0.1, 1.0, 3.0}) {
      const FrequencyModel dense(data, rows,
                                 {BaselineOptions::Kind::kMarkovChain, order, pseudo_count, false});
      EXPECT_NEAR(chain.log_likelihood(other[0], order, pseudo_count),
                  dense.log_likelihood(other[0]), 1e-12)
          << order;
    }
  }
}

TEST(ContextChain, SumsToOneWithHolesToo) {
  const SequenceSet data = some_sequences();
  const ContextChain chain(data, 3);
  for (const bool hole : {false, true}) {
    double sum = 0.0;
    for (unsigned code = 0; code < 81; ++code) {
      std::vector<Symbol> word;
      for (unsigned rest = code, k = 0; k < 4; ++k, rest /= 3)
        word.push_back(static_cast<Symbol>(rest % 3));
      if (hole) word.insert(word.begin() + 2, kMissing);
      const SequenceSet one(Alphabet::integers(3), {word});
      sum += std::exp(chain.log_likelihood(one[0], 3, 0.5));
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(ContextChain, ABurnInIsContextAndNotScored) {
  const ContextChain chain(some_sequences(), 2);
  const SequenceSet whole(Alphabet::integers(3), {{0, 1, 2, 1, 0, 2}});
  for (std::size_t burn_in = 0; burn_in <= 6; ++burn_in) {
    EXPECT_NEAR(chain.log_likelihood(whole[0], 2, 0.5, burn_in),
                chain.log_likelihood(whole[0], 2, 0.5) -
                    chain.log_likelihood(whole[0].part(0, burn_in), 2, 0.5),
                1e-12);
  }
}

TEST(ContextChain, CountsTheContextsThatOccurred) {
  const SequenceSet data(Alphabet::integers(3), {{0, 1, 0, 1, 0}});
  const ContextChain chain(data, 2);
  EXPECT_EQ(chain.parameters(0), 2U);
  EXPECT_EQ(chain.parameters(1), 4U);  // after 0 and 1
  EXPECT_EQ(chain.parameters(2), 4U);  // after 01 and 10
}

TEST(ContextChain, RefusesNumbersThatDoNotFit) {
  testing::expect_error(ErrorCode::kUsage, "too large",
                        [] { return ContextChain(some_sequences(), 60); });
}

}  // namespace
}  // namespace hqmm::detail
