#include "hqmm/model/smoothing.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/embedding.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"
#include "support/support.hpp"

namespace hqmm::detail {
namespace {

using testing::Shape;

constexpr std::uint64_t kSmoothingSeed = 271;

Matrix mixed_map(const KrausSet& set, Index y, const Matrix& rho, double epsilon) {
  const double share = epsilon / static_cast<double>(set.alphabet_size());
  return (1.0 - epsilon) * set.apply(y, rho) + share * set.apply_total(rho);
}

TEST(Smoothing, MixesEverySymbolMapWithTheTotalChannel) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 1);
  for (const Shape& shape : testing::small_shapes()) {
    for (const double epsilon : {1e-6, 0.01, 0.5, 1.0}) {
      const Hqmm model = testing::random_positional_hqmm(shape, PositionMap::Anchor::kEnd, random);
      const Hqmm smooth = smoothed(model, epsilon);
      EXPECT_EQ(smooth.kraus_rank(), shape.s * shape.w);
      EXPECT_LE(feasibility_residual(smooth), 1e-14);
      const Matrix rho = random_density_matrix(shape.n, random);
      for (std::size_t set = 0; set < model.sets.size(); ++set) {
        for (Index y = 0; y < shape.s; ++y) {
          EXPECT_LE(testing::norm_distance(smooth.sets[set].apply(y, rho),
                                           mixed_map(model.sets[set], y, rho, epsilon)),
                    1e-14);
        }
      }
      EXPECT_NO_THROW(require_valid(smooth));
    }
  }
}

TEST(Smoothing, OfNothingIsTheModelItself) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 2);
  const Hqmm model = testing::random_hqmm({3, 4, 2}, random);
  EXPECT_TRUE(smoothed(model, 0.0).sets[0].gamma() == model.sets[0].gamma());
  const Stack gradient = Stack::Random(24, 3);
  EXPECT_TRUE(pull_back_smoothing(model.sets[0], gradient, 0.0) == gradient);
}

TEST(Smoothing, RefusesWhatIsNoShare) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 3);
  const Hqmm model = testing::random_hqmm({2, 2, 1}, random);
  for (const double epsilon : {-0.01, 1.01, std::nan("")})
    testing::expect_error(ErrorCode::kUsage, "smoothing",
                          [&] { static_cast<void>(smoothed(model, epsilon)); });
}

/// ⟨G', dΓ'⟩ = ⟨pull-back of G', dΓ⟩: Γ' is linear in Γ.
TEST(Smoothing, PullsGradientsBack) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 4);
  for (const Shape& shape : testing::small_shapes()) {
    const Hqmm model = testing::random_hqmm(shape, random);
    Hqmm direction = model;
    direction.sets[0].gamma() = Stack::Random(shape.s * shape.w * shape.n, shape.n);
    const Stack gradient = Stack::Random(shape.s * shape.s * shape.w * shape.n, shape.n);
    const Stack moved = smoothed(direction, 0.3).sets[0].gamma();
    const double expected = (gradient.array().conjugate() * moved.array()).sum().real();
    const Stack pulled = pull_back_smoothing(model.sets[0], gradient, 0.3);
    const double found =
        (pulled.array().conjugate() * direction.sets[0].gamma().array()).sum().real();
    EXPECT_NEAR(found, expected, 1e-12);
  }
}

TEST(Smoothing, OfAnHmmIsThatOfItsEmbedding) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 5);
  const Hmm hmm = testing::random_started_hmm(3, 4, random);
  const Hmm smooth = smoothed(hmm, 0.2);
  EXPECT_NO_THROW(require_valid(smooth));
  const Hqmm twin = smoothed(embed_rank_one(hmm), 0.2);
  for (int k = 0; k < 20; ++k) {
    const auto symbols = testing::random_symbols(5, 4, random, 0.2);
    EXPECT_NEAR(testing::naive_probability(smooth, symbols),
                testing::naive_probability(twin, symbols), 1e-14);
  }
}

TEST(FewestOperators, KeepsTheMapsAndFeasibility) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 6);
  for (const Shape& shape : {Shape{1, 5, 3}, Shape{2, 7, 1}, Shape{2, 20, 2}, Shape{3, 6, 2}}) {
    const Hqmm model =
        smoothed(testing::random_positional_hqmm(shape, PositionMap::Anchor::kStart, random), 0.1);
    ASSERT_GT(model.kraus_rank(), shape.n * shape.n);
    const Hqmm fewer = with_fewest_operators(model);
    EXPECT_EQ(fewer.kraus_rank(), shape.n * shape.n);
    EXPECT_LE(feasibility_residual(fewer), 1e-12);
    const Matrix rho = random_density_matrix(shape.n, random);
    for (std::size_t set = 0; set < model.sets.size(); ++set) {
      for (Index y = 0; y < shape.s; ++y)
        EXPECT_LE(
            testing::norm_distance(fewer.sets[set].apply(y, rho), model.sets[set].apply(y, rho)),
            1e-13);
    }
  }
}

TEST(FewestOperators, LeavesASmallModelAlone) {
  RandomStream random(kSmoothingSeed, Purpose::kTest, 7);
  const Hqmm model = testing::random_hqmm({2, 3, 4}, random);
  EXPECT_TRUE(with_fewest_operators(model).sets[0].gamma() == model.sets[0].gamma());
}

}  // namespace
}  // namespace hqmm::detail
