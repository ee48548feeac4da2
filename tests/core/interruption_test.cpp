#include "hqmm/core/interruption.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "hqmm/core/error.hpp"
#include "hqmm/core/parallel.hpp"

namespace hqmm::detail {
namespace {

const std::function<bool()> kAlways = [] { return true; };
const std::function<bool()> kNever = [] { return false; };

bool interrupted() {
  try {
    check_interruption();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInterrupted);
    return true;
  }
  return false;
}

TEST(Interruption, OnlyInsideOfAScope) {
  EXPECT_FALSE(interrupted());
  {
    const InterruptionScope scope(&kAlways);
    EXPECT_TRUE(interrupted());
    EXPECT_THROW(check_interruption(128), Error);
    EXPECT_NO_THROW(check_interruption(129));
  }
  EXPECT_FALSE(interrupted());
}

TEST(Interruption, TheInnermostScopeCounts) {
  const InterruptionScope outer(&kAlways);
  {
    const InterruptionScope inner(&kNever);
    EXPECT_FALSE(interrupted());
  }
  EXPECT_TRUE(interrupted());
}

TEST(Interruption, LoopsAskBeforeEveryItemOnAnyThread) {
  for (const int threads : {1, 4}) {
    std::atomic<int> asked = 0;
    std::atomic<int> done = 0;
    const std::function<bool()> soon = [&] { return ++asked > 5; };
    const InterruptionScope scope(&soon);
    EXPECT_THROW(parallel_for(1000, threads, [&](std::size_t) { ++done; }), Error);
    EXPECT_LE(done, 5);
  }
}

TEST(Interruption, BodiesOfALoopAreInItsScope) {
  std::atomic<bool> stop = false;
  const std::function<bool()> asked = [&] { return stop.load(); };
  const InterruptionScope scope(&asked);
  EXPECT_THROW(parallel_for(8, 4,
                            [&](std::size_t) {
                              stop = true;
                              check_interruption();
                              ADD_FAILURE();
                            }),
               Error);
}

}  // namespace
}  // namespace hqmm::detail
