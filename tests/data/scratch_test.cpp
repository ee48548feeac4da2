// Sets that lie in a scratch file against the same sets in memory.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "hqmm/core/memory_budget.hpp"
#include "hqmm/core/random.hpp"
#include "hqmm/data/fetched_sequences.hpp"
#include "hqmm/data/folds.hpp"
#include "hqmm/data/sequence_set.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr std::size_t kBudget = 64 << 10;  // a quarter of it: four blocks of 4096 bytes

std::vector<std::vector<Symbol>> rows(std::size_t count, std::size_t alphabet, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kTest);
  std::vector<std::vector<Symbol>> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = i % 97; t < 97; ++t)
      out[i].push_back(t % 13 == 5 ? kMissing : static_cast<Symbol>(random.below(alphabet)));
  }
  return out;
}

SequenceSet set_of(const std::vector<std::vector<Symbol>>& rows, std::size_t alphabet,
                   const std::shared_ptr<MemoryBudget>& budget) {
  SequenceSet out(Alphabet::integers(alphabet));
  out.open_block().keep_within(budget);
  for (const auto& row : rows) {
    for (const Symbol symbol : row) out.push_back(symbol);
    out.end_sequence();
  }
  return out;
}

class Scratch : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Scratch, HoldsWhatMemoryHolds) {
  const auto some = rows(2000, GetParam(), 1);
  const auto budget = std::make_shared<MemoryBudget>(kBudget);
  const SequenceSet here = set_of(some, GetParam(), nullptr);
  const SequenceSet there = set_of(some, GetParam(), budget);
  EXPECT_FALSE(here.symbols().in_file());
  ASSERT_TRUE(there.symbols().in_file());
  EXPECT_EQ(here.hash(), there.hash());
  const SequenceSet copy = there;
  EXPECT_TRUE(copy.symbols().in_file());
  EXPECT_EQ(copy.hash(), here.hash());
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < here.size(); i += 2) chosen.push_back(i);
  EXPECT_EQ(here.subset(chosen).hash(), there.subset(chosen).hash());
  SequenceSet both = there;
  both.append(here);
  SequenceSet same = here;
  same.append(there);
  EXPECT_EQ(both.hash(), same.hash());
}

TEST_P(Scratch, FetchesABatch) {
  const auto some = rows(2000, GetParam(), 2);
  const SequenceSet there = set_of(some, GetParam(), std::make_shared<MemoryBudget>(kBudget));
  FetchedSequences fetched;
  std::uint64_t serial = 0;
  for (std::size_t first = 0; first < 5; ++first) {
    std::vector<SequenceView> batch;
    for (std::size_t i = first; i < there.size(); i += 31)
      if (there[i].size() > 3) batch.push_back(there[i].part(2, there[i].size() - 3));
    const std::vector<SequenceView> before = batch;
    fetched.fetch(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_FALSE(batch[i].block()->in_file());
      EXPECT_EQ(batch[i], before[i]);
    }
    EXPECT_NE(batch.front().block()->serial(), serial);
    serial = batch.front().block()->serial();
  }
  std::vector<SequenceView> none;
  fetched.fetch(none);
}

/// One byte a symbol, two, and one that becomes two on the way.
INSTANTIATE_TEST_SUITE_P(Alphabets, Scratch, ::testing::Values(4, 254, 300, 4000));

TEST(ScratchFiles, FoldsAreThoseOfMemory) {
  auto some = rows(1500, 2, 3);
  for (std::size_t i = 0; i < some.size(); i += 3) some[i] = some[i % 7 * 50];  // many are equal
  const SequenceSet here = set_of(some, 2, nullptr);
  const SequenceSet there = set_of(some, 2, std::make_shared<MemoryBudget>(kBudget));
  ASSERT_TRUE(there.symbols().in_file());
  const Grouping identical{Grouping::Kind::kIdentical, 0};
  EXPECT_EQ(make_folds(here, 5, identical, 9), make_folds(there, 5, identical, 9));
  const Split a = hold_out(here, 0.2, identical, 9);
  const Split b = hold_out(there, 0.2, identical, 9);
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.held_out, b.held_out);
}

TEST(ScratchFiles, GiveTheirMemoryBack) {
  MemoryBudget budget(400);
  EXPECT_TRUE(budget.take(100));
  EXPECT_FALSE(budget.take(1));
  budget.give_back(60);
  EXPECT_TRUE(budget.take(60));
  const auto shared = std::make_shared<MemoryBudget>(kBudget);
  for (int i = 0; i < 20; ++i) {
    const SequenceSet set = set_of(rows(20, 4, 4), 4, shared);  // one block
    EXPECT_FALSE(set.symbols().in_file()) << i;
  }
}

TEST(ScratchFiles, PagesThatWereLetGoAreStillThere) {
  const auto budget = std::make_shared<MemoryBudget>(1);  // always too much: they go all the time
  const auto some = rows(20000, 4, 5);
  const SequenceSet there = set_of(some, 4, budget);
  const std::uint64_t expected = set_of(some, 4, nullptr).hash();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(there.hash(), expected);
}

}  // namespace
}  // namespace hqmm::detail::testing
