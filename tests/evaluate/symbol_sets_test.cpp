// Baselines take symbols that stand for several for what they stand for.
#include "hqmm/data/symbol_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/evaluate/baselines.hpp"
#include "hqmm/evaluate/context_chain.hpp"
#include "support/readings.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

TEST(SymbolSets, AreSummedOverByBaselines) {
  RandomStream random(1707, Purpose::kTest, 100);
  const SequenceSet data = dna({random_symbols(400, 4, random), with_sets(50, random)});
  const Symbols symbols = with_sets(5, random);
  BaselineOptions options;
  options.kind = BaselineOptions::Kind::kMarkovChain;
  options.order = 2;
  const FrequencyModel model(data, {0, 1}, options);
  double sum = 0.0;
  for_each_reading(symbols, [&](const Symbols& reading) {
    const SequenceSet one = dna({reading});
    sum += std::exp(model.log_likelihood(one[0]));
  });
  const SequenceSet set = dna({symbols});
  EXPECT_NEAR(model.log_likelihood(set[0]), std::log(sum), 1e-11);

  const ContextChain chain(data, 3);
  const Symbol r = *Alphabet::dna().set_of('R');
  const SequenceSet both = dna({{1, 2, r}, {1, 2, 0}, {1, 2, 2}, {1, 2, r, 3}, {3}});
  const auto p = [&](std::size_t i) { return std::exp(chain.log_likelihood(both[i], 3, 0.5)); };
  EXPECT_NEAR(p(0), p(1) + p(2), 1e-12);
  EXPECT_NEAR(p(3), p(0) * p(4), 1e-12) << "a set ends the context";
}

}  // namespace
}  // namespace hqmm::detail::testing
