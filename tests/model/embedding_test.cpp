// Every HMM is an HQMM: the two embeddings are exact.
#include "hqmm/model/embedding.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/likelihood.hpp"
#include "hqmm/model/synthetic.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

void expect_same_process(const Hmm& hmm, const Hqmm& embedded, RandomStream& random) {
  EXPECT_NO_THROW(require_valid(embedded));
  EXPECT_LE(feasibility_residual(embedded), 1e-14);
  HmmFilter classical(hmm);
  HqmmFilter quantum(embedded);
  const auto s = static_cast<std::size_t>(hmm.alphabet_size());
  std::vector<double> expected(s);
  std::vector<double> found(s);
  for (const Symbol symbol : random_symbols(60, hmm.alphabet_size(), random, 0.2)) {
    EXPECT_NEAR(quantum.step(symbol).raw, classical.step(symbol).raw, 1e-12);
    EXPECT_LE((quantum.state().diagonal().real() - classical.state()).norm(), 1e-12);
    quantum.next_distribution(found);
    classical.next_distribution(expected);
    for (std::size_t y = 0; y < s; ++y) EXPECT_NEAR(found[y], expected[y], 1e-12);
  }
}

TEST(Embedding, IsTheSameProcessAsTheHmm) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    RandomStream random(31, Purpose::kTest, i);
    const Index n = 1 + static_cast<Index>(random.below(5));
    const Hmm hmm = random_started_hmm(n, 1 + static_cast<Index>(random.below(5)), random);
    expect_same_process(hmm, embed_rank_one(hmm), random);
    expect_same_process(hmm, embed_cyclic(hmm), random);
  }
}

TEST(Embedding, OfTheSyntheticHmmIsTheSameProcess) {
  RandomStream random(32, Purpose::kTest);
  expect_same_process(synthetic_hmm(), embed_rank_one(synthetic_hmm()), random);
  expect_same_process(synthetic_hmm(), embed_cyclic(synthetic_hmm()), random);
}

TEST(Embedding, OperatorsHaveTheFormTheyAreNamedFor) {
  RandomStream random(33, Purpose::kTest);
  const Index n = 3;
  const Hmm hmm = random_started_hmm(n, 2, random);
  const KrausSet rank_one = embed_rank_one(hmm).sets[0];
  const KrausSet cyclic = embed_cyclic(hmm).sets[0];
  ASSERT_EQ(rank_one.kraus_rank(), n);
  for (Index y = 0; y < 2; ++y) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double amplitude = std::sqrt(hmm.emission(y, j) * hmm.transition(j, i));  // i → j
        for (Index q = 0; q < n; ++q) {
          EXPECT_EQ(rank_one.op(y, q)(j, i), q == i ? amplitude : 0.0);
          EXPECT_EQ(cyclic.op(y, q)(j, i), q == (i - j + n) % n ? amplitude : 0.0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
