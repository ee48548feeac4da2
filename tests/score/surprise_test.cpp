#include "hqmm/score/surprise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace hqmm::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(Surprise, IsBitsOfTheNormalisedProbability) {
  EXPECT_DOUBLE_EQ(surprise({0.25, 1.0}), 2.0);
  EXPECT_DOUBLE_EQ(surprise({0.5, 2.0}), 2.0);
  EXPECT_EQ(surprise({1.0 + 1e-12, 1.0}), 0.0);
  EXPECT_EQ(surprise({0.0, 1.0}), kNever);
}

TEST(Surprise, AWindowIsTheMeanOfTheLastOnes) {
  std::mt19937 random(1);
  for (const std::size_t size : {1U, 2U, 7U}) {
    SurpriseWindow window(size);
    EXPECT_TRUE(std::isnan(window.mean()));
    std::vector<double> all;
    for (int t = 0; t < 100; ++t) {
      all.push_back(t % 31 == 5 ? kNever : static_cast<double>(random() % 1000) / 64.0);
      window.add(all.back());
      const std::size_t first = all.size() < size ? 0 : all.size() - size;
      double sum = 0.0;
      for (std::size_t i = first; i < all.size(); ++i) sum += all[i];
      EXPECT_EQ(window.full(), all.size() >= size);
      EXPECT_DOUBLE_EQ(window.mean(), sum / static_cast<double>(all.size() - first)) << t;
    }
    window.clear();
    EXPECT_EQ(window.count(), 0U);
    window.add(3.0);
    EXPECT_EQ(window.mean(), 3.0);
  }
}

TEST(Surprise, RoundingDoesNotAddUp) {
  SurpriseWindow window(3);
  for (int t = 0; t < 1000; ++t) window.add(1e16);
  for (int t = 0; t < 6; ++t) window.add(0.1);
  EXPECT_DOUBLE_EQ(window.mean(), 0.1);
}

}  // namespace
}  // namespace hqmm::detail
