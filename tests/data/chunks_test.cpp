#include "hqmm/data/chunks.hpp"

#include <gtest/gtest.h>

#include "support/property.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using hqmm::detail::testing::expect_error;

/// Sequences of these lengths; symbol t of sequence i is 10·i + t, modulo 200.
SequenceSet set_of(const std::vector<std::size_t>& lengths) {
  SequenceSet set(Alphabet::integers(200));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    for (std::size_t t = 0; t < lengths[i]; ++t)
      set.push_back(static_cast<Symbol>((10 * i + t) % 200));
    set.end_sequence();
  }
  return set;
}

ChunkPlan plan(std::size_t longest, std::optional<std::size_t> chunk_length = {},
               std::optional<std::size_t> burn_in = {}) {
  return plan_chunks(set_of({5, longest, 0}), chunk_length, burn_in);
}

TEST(PlanChunks, LeavesShortSequencesWhole) {
  for (const std::size_t longest : {0, 60, 600}) {
    EXPECT_EQ(plan(longest).chunk_length, 0U);
    EXPECT_EQ(plan(longest).burn_in, 0U);
  }
  EXPECT_EQ(plan_chunks(SequenceSet(), {}, {}).chunk_length, 0U);
}

TEST(PlanChunks, CutsLongSequences) {
  EXPECT_EQ(plan(601).chunk_length, 300U);
  EXPECT_EQ(plan(601).burn_in, 20U);
}

TEST(PlanChunks, TakesWhatIsGiven) {
  EXPECT_EQ(plan(60, 30).chunk_length, 30U);
  EXPECT_EQ(plan(60, 30).burn_in, 0U);
  EXPECT_EQ(plan(60, {}, 10).chunk_length, 0U);
  EXPECT_EQ(plan(60, {}, 10).burn_in, 10U);
  EXPECT_EQ(plan(3000, 0).chunk_length, 0U) << "0 given: whole, however long";
  EXPECT_EQ(plan(3000, 0, 1000).burn_in, 1000U);
  EXPECT_EQ(plan(3000, 300, 100).burn_in, 100U);
  EXPECT_EQ(plan(3000, {}, 0).burn_in, 0U);
}

TEST(PlanChunks, ItsOwnBurnInLeavesHalfOfAShortChunkToScore) {
  EXPECT_EQ(plan(3000, 40).burn_in, 20U);
  EXPECT_EQ(plan(3000, 10).burn_in, 5U);
  EXPECT_EQ(plan(3000, 1).burn_in, 0U);
}

TEST(PlanChunks, RejectsABurnInAsLongAsTheChunk) {
  expect_error(ErrorCode::kUsage, "a burn-in of 50 leaves nothing to score in chunks of 50 symbols",
               [] { (void)plan(60, 50, 50); });
  expect_error(ErrorCode::kUsage, "a burn-in of 400 leaves nothing to score in chunks of 300",
               [] { (void)plan(3000, {}, 400); });
}

TEST(Cut, KeepsSequencesWhole) {
  const SequenceSet set = set_of({3, 0, 1000});
  const auto chunks = cut(set, {});
  ASSERT_EQ(chunks.size(), 2U) << "an empty sequence gives no chunk";
  EXPECT_EQ(chunks[0].symbols, set[0]);
  EXPECT_EQ(chunks[1].symbols, set[2]);
  EXPECT_EQ(chunks[1].sequence, 2U);
  EXPECT_EQ(chunks[1].begin, 0U);
}

TEST(Cut, GivesThePapersTwoHundredChunks) {
  const SequenceSet set = set_of(std::vector<std::size_t>(20, 3000));
  const auto chunks = cut(set, {.chunk_length = 300, .burn_in = 100});
  ASSERT_EQ(chunks.size(), 200U);
  EXPECT_EQ(chunks[11].sequence, 1U);
  EXPECT_EQ(chunks[11].begin, 300U);
  EXPECT_EQ(chunks[11].symbols, set[1].part(300, 300));
}

TEST(Cut, KeepsALastPieceWithASymbolToScore) {
  EXPECT_EQ(cut(set_of({25}), {.chunk_length = 10, .burn_in = 4}).size(), 3U);
  EXPECT_EQ(cut(set_of({25}), {.chunk_length = 10, .burn_in = 5}).size(), 2U);
  EXPECT_EQ(cut(set_of({21}), {.chunk_length = 10, .burn_in = 0}).size(), 3U);
}

TEST(Cut, LeavesOutSequencesThatEndWithinTheBurnIn) {
  const SequenceSet set = set_of({5, 6, 5});
  const auto chunks = cut(set, {.chunk_length = 0, .burn_in = 5});
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].sequence, 1U);
}

TEST(Cut, RejectsABurnInAsLongAsTheChunk) {
  expect_error(ErrorCode::kUsage, "burn-in of 10",
               [] { (void)cut(set_of({25}), {.chunk_length = 10, .burn_in = 10}); });
}

HQMM_PROPERTY(Cut, ChunksLieEndToEndAndOnlyATailIsLost) {
  std::vector<std::size_t> lengths(draw.length());
  for (std::size_t& length : lengths) length = draw.between(0, 79);
  const std::size_t chunk_length = draw.between(0, 29);
  const std::size_t burn_in = draw.between(0, std::max<std::size_t>(chunk_length, 1) - 1);
  const SequenceSet set = set_of(lengths);
  std::vector<std::size_t> covered(set.size());
  const Chunks chunks = cut(set, {chunk_length, burn_in});
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Chunk chunk = chunks[i];
    HQMM_HOLDS(chunk.symbols.size() > burn_in);
    HQMM_HOLDS(chunk_length == 0U || chunk.symbols.size() <= chunk_length);
    HQMM_HOLDS(chunk.begin == covered[chunk.sequence]);
    HQMM_HOLDS(chunk.symbols == set[chunk.sequence].part(chunk.begin, chunk.symbols.size()));
    covered[chunk.sequence] += chunk.symbols.size();
  }
  for (std::size_t i = 0; i < set.size(); ++i) HQMM_HOLDS(set[i].size() - covered[i] <= burn_in);
}

}  // namespace
}  // namespace hqmm::detail
