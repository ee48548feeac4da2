#include "hqmm/core/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "hqmm/core/random.hpp"

#include "support/property.hpp"

namespace hqmm::detail {
namespace {

constexpr int kThreadCounts[] = {0, 1, 2, 3, 8};

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : kThreadCounts) {
    for (const std::size_t size : {0, 1, 2, 7, 1000}) {
      std::vector<int> visits(size);
      parallel_for(size, threads, [&](std::size_t i) { ++visits[i]; });
      EXPECT_EQ(visits, std::vector<int>(size, 1)) << threads << " threads, " << size << " items";
    }
  }
}

TEST(ParallelFor, DoesNothingOnAnEmptyRange) {
  for (const int threads : kThreadCounts) {
    parallel_for(0, threads, [](std::size_t) { FAIL() << "there is no item to work on"; });
  }
}

TEST(ParallelFor, UsesNoMoreThreadsThanAsked) {
  for (const int threads : {1, 2}) {
    std::mutex guard;
    std::set<std::thread::id> seen;
    parallel_for(200, threads, [&](std::size_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      const std::lock_guard lock(guard);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_LE(seen.size(), static_cast<std::size_t>(threads));
    EXPECT_TRUE(threads > 1 || seen.contains(std::this_thread::get_id()));
  }
}

/// What parallel_for throws when the bodies of these indices do.
std::string failure_of(std::size_t size, int threads, const std::set<std::size_t>& failing) {
  try {
    parallel_for(size, threads, [&](std::size_t i) {
      if (failing.contains(i)) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(ParallelFor, ThrowsWhatTheLowestIndexThrew) {
  for (const int threads : kThreadCounts) {
    EXPECT_EQ(failure_of(1000, threads, {}), "none");
    EXPECT_EQ(failure_of(1000, threads, {999}), "999");
    for (int again = 0; again < 50; ++again) {
      ASSERT_EQ(failure_of(1000, threads, {3, 4, 250, 500, 750, 999}), "3")
          << threads << " threads";
    }
  }
}

TEST(ParallelFor, ThrowsWhatTheLowestIndexThrewEvenWhenThatComesLast) {
  for (const int threads : kThreadCounts) {
    std::atomic<int> others = 0;
    const auto wait_for_another = [&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      while (others == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    };
    try {
      parallel_for(64, threads, [&](std::size_t i) {
        if (i == 0 && threads != 1) wait_for_another();
        if (i != 0) ++others;
        throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "0") << threads << " threads";
    }
  }
}

TEST(ParallelFor, DoesAllItemsBelowTheFailure) {
  for (const int threads : kThreadCounts) {
    std::vector<int> done(500);
    EXPECT_THROW(parallel_for(500, threads,
                              [&](std::size_t i) {
                                if (i >= 300) throw std::runtime_error("no");
                                done[i] = 1;
                              }),
                 std::runtime_error);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(done[i], 1) << "item " << i;
  }
}

TEST(ParallelFor, Nests) {
  for (const int threads : kThreadCounts) {
    std::vector<std::vector<std::size_t>> table(20, std::vector<std::size_t>(30));
    parallel_for(20, threads, [&](std::size_t i) {
      parallel_for(30, threads, [&](std::size_t j) { table[i][j] = i * 30 + j; });
    });
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t j = 0; j < 30; ++j) ASSERT_EQ(table[i][j], i * 30 + j);
    }
  }
}

TEST(ParallelFor, PassesNestedFailuresOn) {
  for (const int threads : kThreadCounts) {
    std::atomic<int> outer_done = 0;
    try {
      parallel_for(10, threads, [&](std::size_t i) {
        parallel_for(10, threads, [&](std::size_t j) {
          if (i >= 4 && j >= 7)
            throw std::runtime_error(std::to_string(i) + "," + std::to_string(j));
        });
        ++outer_done;
      });
      FAIL() << "nothing thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "4,7");
      EXPECT_EQ(outer_done, 4);
    }
  }
}

#if defined(__SANITIZE_THREAD__)
constexpr int kThreadsOfChild = 1;  // the sanitizer allows no threads in one
#else
constexpr int kThreadsOfChild = 2;
#endif

/// fork() leaves helpers to the parent: the child must not wait for them.
TEST(ParallelFor, WorksInAChildProcess) {
  parallel_for(100, 2, [](std::size_t) {});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> done = 0;
    parallel_for(100, kThreadsOfChild, [&](std::size_t) { ++done; });
    ::_exit(done == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ParallelFor, TakesLoopsFromSeveralThreadsAtOnce) {
  std::vector<std::size_t> sums(4);
  std::vector<std::thread> callers;
  for (std::size_t& sum : sums) {
    callers.emplace_back([&sum] {
      for (int again = 0; again < 200; ++again) {
        std::vector<std::size_t> items(17);
        parallel_for(items.size(), 0, [&](std::size_t i) { items[i] = i; });
        for (const std::size_t item : items) sum += item;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sums, std::vector<std::size_t>(4, 200 * 136));
}

TEST(ReduceTree, CombinesNeighboursFirst) {
  const auto combine = [](std::string a, const std::string& b) { return "(" + a + b + ")"; };
  const auto tree = [&](std::vector<std::string> values) {
    return reduce_tree(std::move(values), std::string("nothing"), combine);
  };
  EXPECT_EQ(tree({}), "nothing");
  EXPECT_EQ(tree({"a"}), "a");
  EXPECT_EQ(tree({"a", "b", "c"}), "((ab)c)");
  EXPECT_EQ(tree({"a", "b", "c", "d", "e"}), "(((ab)(cd))e)");
  EXPECT_EQ(tree({"a", "b", "c", "d", "e", "f", "g"}), "(((ab)(cd))((ef)g))");
}

/// A sum whose last bits depend on the order of additions.
double delicate_sum(std::size_t size, int threads) {
  return parallel_reduce(
      size, threads, 0.0,
      [](std::size_t i) {
        RandomStream random(1, Purpose::kTest, i);
        return std::exp(20.0 * random.normal());
      },
      [](double a, double b) { return a + b; });
}

TEST(ParallelReduce, GivesTheSameBytesAtAnyThreadCount) {
  for (const std::size_t size : {0, 1, 2, 3, 100, 1001}) {
    const auto bits = std::bit_cast<std::uint64_t>(delicate_sum(size, 1));
    for (const int threads : {2, 3, 8, 0}) {
      for (int again = 0; again < 3; ++again) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(delicate_sum(size, threads)), bits)
            << size << " items, " << threads << " threads";
      }
    }
  }
}

HQMM_PROPERTY(ParallelReduce, KeepsTheOrderOfItems) {
  const std::vector<std::uint8_t> items = draw.bytes();
  const int threads = draw.one_of({1, 2, 3, 8});
  const auto joined = parallel_reduce(
      items.size(), threads, std::vector<std::uint8_t>{},
      [&](std::size_t i) { return std::vector<std::uint8_t>{items[i]}; },
      [](std::vector<std::uint8_t> a, const std::vector<std::uint8_t>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
  HQMM_HOLDS(joined == items);
}

TEST(ResolveThreads, TakesZeroForAllCores) {
  EXPECT_EQ(resolve_threads(1), 1);
  EXPECT_EQ(resolve_threads(64), 64);
  EXPECT_GE(resolve_threads(0), 1);
}

}  // namespace
}  // namespace hqmm::detail
