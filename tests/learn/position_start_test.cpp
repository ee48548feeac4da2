#include "hqmm/learn/position_start.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/hqmm.hpp"

namespace hqmm::detail {
namespace {

std::vector<SequenceView> views_of(const SequenceSet& set) {
  std::vector<SequenceView> out;
  for (std::size_t i = 0; i < set.size(); ++i) out.push_back(set[i]);
  return out;
}

TEST(PositionFrequencies, CountByTheSetOfEachPosition) {
  const SequenceSet set(Alphabet::integers(2), {{0, 1, 1}, {0, kMissing, 0}, {1}, {}});
  const PositionMap from_start({0, 1}, PositionMap::Anchor::kStart);
  const RealMatrix start = position_frequencies(views_of(set), from_start, 2, 2, 0.0);
  EXPECT_DOUBLE_EQ(start(0, 0), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(start(1, 0), 1.0 / 3.0);  // 1 1 and ? 0
  const PositionMap from_end({0, 1}, PositionMap::Anchor::kEnd);
  const RealMatrix end = position_frequencies(views_of(set), from_end, 2, 2, 1.0);
  EXPECT_DOUBLE_EQ(end(0, 0), 3.0 / 5.0);  // 0 1 and 0 ?, and one of each
  EXPECT_DOUBLE_EQ(end(1, 0), 2.0 / 5.0);  // 1, 0, 1
}

TEST(PositionFrequencies, AreUniformWhereNothingIsKnown) {
  const SequenceSet set(Alphabet::integers(4), {{kMissing, 2}});
  const RealMatrix found = position_frequencies(views_of(set), PositionMap::each(3), 3, 4, 0.0);
  EXPECT_EQ(found.row(0), RealMatrix::Constant(1, 4, 0.25));
  EXPECT_EQ(found(1, 2), 1.0);
  EXPECT_EQ(found.row(2), RealMatrix::Constant(1, 4, 0.25));
}

TEST(PositionStart, WithoutNoiseTheSymbolsAreIndependent) {
  RandomStream random(1, Purpose::kTest);
  RealVector frequencies(3);
  frequencies << 0.2, 0.5, 0.3;
  const KrausSet set = kraus_of_frequencies(frequencies, {3, frequencies.size(), 2}, 0.0, random);
  for (Index y = 0; y < 3; ++y) {
    EXPECT_LE((set.effect(y) - frequencies(y) * Matrix::Identity(3, 3)).norm(), 1e-14);
    EXPECT_LE(set.op(y, 1).norm(), 1e-15);
  }
}

TEST(PositionStart, NoiseMovesAllOperatorsAndStaysFeasible) {
  RealVector frequencies(4);
  frequencies << 0.0, 1.0, 0.0, 0.0;
  for (const double noise : {0.01, 0.1, 1.0, 10.0}) {
    RandomStream random(1, Purpose::kTest, 7);
    const KrausSet set =
        kraus_of_frequencies(frequencies, {4, frequencies.size(), 2}, noise, random);
    EXPECT_LE(set.feasibility_residual(), 1e-12);
    for (Index y = 0; y < 4; ++y)
      for (Index q = 0; q < 2; ++q) EXPECT_GT(set.op(y, q).norm(), 0.1 * std::min(noise, 1.0));
    if (noise > 0.2) continue;
    EXPECT_NEAR(set.effect(1).trace().real(), 4.0, 8.0 * noise * noise);
  }
}

}  // namespace
}  // namespace hqmm::detail
