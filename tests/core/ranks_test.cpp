#include "hqmm/core/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/parallel.hpp"
#include "hqmm/core/rank_cells.hpp"
#include "hqmm/core/tree_sum.hpp"
#include "support/thread_ranks.hpp"

namespace hqmm::detail {
namespace {

using testing::on_ranks;

/// Numbers whose sum depends on the order.
std::vector<double> uneven(std::size_t count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = std::sin(static_cast<double>(i + 1)) * std::pow(10.0, static_cast<double>(i % 9));
  return out;
}

double by_fold(std::vector<double> values) {
  fold_tree(std::span(values), [](double& a, double b) { a += b; });
  return values.front();
}

TEST(TreeSum, OfLeavesIsTheFold) {
  for (std::size_t count = 1; count < 70; ++count) {
    const std::vector<double> values = uneven(count);
    TreeSum<double> sum;
    for (std::size_t i = 0; i < count; ++i) {
      double leaf = values[i];
      sum.add_leaf(i, leaf);
    }
    EXPECT_EQ(sum.total(), by_fold(values)) << count;
  }
}

TEST(TreeSum, OfStretchesIsTheFold) {
  for (const std::size_t count : {1, 2, 3, 7, 16, 33, 100}) {
    const std::vector<double> values = uneven(count);
    for (std::size_t ranks = 1; ranks < 8; ++ranks) {
      TreeSum<double> all;
      for (std::size_t r = 0; r < ranks; ++r) {
        const Share share{r, ranks};
        TreeSum<double> one;
        for (std::size_t i = share.begin(count); i < share.end(count); ++i) {
          double leaf = values[i];
          one.add_leaf(i, leaf);
        }
        for (std::size_t k = 0; k < one.size(); ++k)
          all.add(one.node(k).level, one.node(k).index, one.node(k).value);
      }
      EXPECT_EQ(all.total(), by_fold(values)) << count << " leaves, " << ranks << " ranks";
    }
  }
}

TEST(Packing, GivesBackWhatItTook) {
  const std::vector<double> values{1.5, -0.0, NAN};
  const std::string bytes =
      Packer().number(7).numbers(std::span(values)).text("a text").number(true).take();
  Unpacker in(bytes);
  EXPECT_EQ(in.number<int>(), 7);
  const auto found = in.numbers<double>();
  ASSERT_EQ(found.size(), 3);
  EXPECT_TRUE(std::signbit(found[1]));
  EXPECT_EQ(in.text(), "a text");
  EXPECT_TRUE(in.number<bool>());
  EXPECT_TRUE(in.at_end());
  EXPECT_THROW(static_cast<void>(in.number<char>()), Error);
  EXPECT_THROW(static_cast<void>(Unpacker("\x7f 234567").numbers<double>()), Error);
}

RankTask listing(const Ranks& ranks) {
  return {
      [&ranks](std::string_view request) { return fmt::format("{}{} ", request, ranks.rank()); },
      [](const std::string& ours, const std::string& theirs) { return ours + theirs; }};
}

TEST(Ranks, AnswerInTheirOrder) {
  for (int size = 1; size < 10; ++size) {
    std::string expected;
    for (int rank = 0; rank < size; ++rank) expected += fmt::format("x{} ", rank);
    on_ranks(
        size,
        [&](Ranks& ranks) {
          for (int turn = 0; turn < 3; ++turn)
            EXPECT_EQ(ranks.ask("list", "x", listing(ranks)), expected);
        },
        [](Ranks& ranks) {
          ranks.help({{"list", listing(ranks)}});
        });
  }
}

TEST(Ranks, ThrowWhatTheLowestThrew) {
  const auto task = [](const Ranks& ranks) {
    RankTask out = listing(ranks);
    out.work = [&ranks](std::string_view) -> std::string {
      if (ranks.rank() < 2) return "";
      throw fail(ErrorCode::kBadData, Where{.file = "a.txt", .line = 3}, "rank {}", ranks.rank());
    };
    return out;
  };
  try {
    on_ranks(
        6, [&](Ranks& ranks) { static_cast<void>(ranks.ask("fail", "", task(ranks))); },
        [&](Ranks& ranks) {
          ranks.help({{"fail", task(ranks)}});
        });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_STREQ(error.what(), "a.txt:3: rank 2");
  }
}

TEST(Ranks, OneThatCannotHelpSaysWhy) {
  const auto help = [](Ranks& ranks) {
    if (ranks.rank() != 2) {
      ranks.help({{"list", listing(ranks)},
                  {"cells", cells_task(ranks, 1, [](std::size_t, std::string_view) {
                     return std::string();
                   })}});
      return;
    }
    ranks.help_with_failure(std::make_exception_ptr(fail(ErrorCode::kNoInput, "not here")));
  };
  EXPECT_THROW(
      on_ranks(
          4, [](Ranks& ranks) { static_cast<void>(ranks.ask("list", "", listing(ranks))); }, help),
      Error);
  Cells cells{3, 1, [](std::size_t) {}, [](std::size_t, std::string_view) {}, {}};
  EXPECT_THROW(on_ranks(
                   4, [&](Ranks& ranks) { hand_out(cells, &ranks); }, help),
               Error);
}

TEST(Cells, AreAllDoneOnce) {
  for (const int size : {1, 2, 5}) {
    std::vector<std::atomic<int>> done(40);
    Cells cells;
    cells.count = done.size();
    cells.threads = 2;
    cells.here = [&](std::size_t i) { ++done[i]; };
    cells.take = [&](std::size_t i, std::string_view bytes) {
      EXPECT_EQ(bytes, fmt::format("r{}", i));
      ++done[i];
    };
    on_ranks(
        size, [&](Ranks& ranks) { hand_out(cells, size == 1 ? nullptr : &ranks, "cells", "r"); },
        [](Ranks& ranks) {
          ranks.help({{"cells", cells_task(ranks, 2, [](std::size_t i, std::string_view request) {
                         return fmt::format("{}{}", request, i);
                       })}});
        });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(Cells, FailWithTheLowest) {
  Cells cells;
  cells.count = 10;
  cells.threads = 1;
  const auto work = [](std::size_t i) {
    if (i >= 3) throw fail(ErrorCode::kDiverged, "cell {}", i);
  };
  cells.here = work;
  cells.take = [](std::size_t, std::string_view) {};
  try {
    on_ranks(
        3, [&](Ranks& ranks) { hand_out(cells, &ranks); },
        [&](Ranks& ranks) {
          ranks.help({{"cells", cells_task(ranks, 1, [&](std::size_t i, std::string_view) {
                         work(i);
                         return std::string();
                       })}});
        });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "cell 3");
  }
}

}  // namespace
}  // namespace hqmm::detail
