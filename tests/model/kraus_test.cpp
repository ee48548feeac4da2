// Kraus sets, random ones, and Hermitian matrices as real vectors.
#include "hqmm/model/kraus.hpp"

#include <gtest/gtest.h>

#include "hqmm/model/hermitian_basis.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

double distance(const Matrix& a, const WideMatrix& b) {
  double worst = 0.0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      const Complex other(b[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
      worst = std::max(worst, std::abs(a(i, j) - other));
    }
  }
  return worst;
}

TEST(KrausSet, MapsAgreeWithTheNaiveTwin) {
  RandomStream random(51, Purpose::kTest);
  for (const Shape& shape : small_shapes()) {
    const Hqmm model = random_hqmm(shape, random);
    const KrausSet& set = model.sets[0];
    const WideMatrix rho = widen(model.initial_state);
    EXPECT_LE(distance(set.apply_total(model.initial_state), total_map(set, rho)), 1e-15);
    for (Index y = 0; y < shape.s; ++y) {
      const WideMatrix expected = symbol_map(set, static_cast<Symbol>(y), rho);
      EXPECT_LE(distance(set.apply(y, model.initial_state), expected), 1e-15);
      const Complex weight = product(set.effect(y), model.initial_state).trace();
      EXPECT_NEAR(weight.real(), static_cast<double>(trace(expected)), 1e-15);
    }
  }
}

TEST(KrausSet, OperatorsAreStackedSymbolMajor) {
  Stack gamma(2 * 2 * 3, 3);  // s = 2, w = 2, n = 3
  for (Index i = 0; i < gamma.size(); ++i) gamma.data()[i] = static_cast<double>(i);
  const KrausSet set(2, 2, gamma);
  EXPECT_EQ(set.op(0, 0)(0, 0), 0.0);
  EXPECT_EQ(set.op(0, 1)(0, 0), 9.0);
  EXPECT_EQ(set.op(1, 0)(0, 0), 18.0);
  EXPECT_EQ(set.op(1, 1)(2, 1), 34.0);
  EXPECT_EQ(set.ops(1).rows(), 6);
  EXPECT_EQ(set.ops(1)(3, 0), 27.0);
}

TEST(RandomModels, AreValid) {
  RandomStream random(52, Purpose::kTest);
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{5, 2, 3}, Shape{16, 4, 1}}) {
    EXPECT_LE(random_kraus(shape.s, shape.w, shape.n, random).feasibility_residual(), 1e-13);
    EXPECT_NO_THROW(require_valid(random_hqmm(shape, random)));
    EXPECT_NO_THROW(require_valid(random_started_hmm(shape.n, shape.s, random)));
    const Matrix pure = random_pure_state(shape.n, random);
    EXPECT_NEAR(pure.trace().real(), 1.0, 1e-14);
    EXPECT_LE(norm_distance(product(pure, pure), pure), 1e-14);
  }
}

// Under the Haar measure a phase is as likely as any other, so the mean of every entry is zero and
// the mean square of each is 1/rows.
TEST(RandomModels, KrausSetsAreSpreadEvenly) {
  RandomStream random(53, Purpose::kTest);
  constexpr int kDraws = 4000;
  Stack sum = Stack::Zero(4, 2);
  RealMatrix squares = RealMatrix::Zero(4, 2);
  for (int i = 0; i < kDraws; ++i) {
    const Stack gamma = random_kraus(2, 1, 2, random).gamma();
    sum += gamma;
    squares += gamma.cwiseAbs2();
  }
  EXPECT_LE(largest_entry(sum) / kDraws, 5.0 * 0.5 / std::sqrt(kDraws));
  EXPECT_LE((squares / kDraws).array().operator-(0.25).abs().maxCoeff(),
            5.0 * 0.2 / std::sqrt(kDraws));
}

TEST(HermitianBasis, IsAnIsometryAndInvertible) {
  RandomStream random(54, Purpose::kTest);
  for (const Index n : {1, 2, 5}) {
    const Matrix a = random_density_matrix(n, random);
    const Matrix b = random_density_matrix(n, random) - random_density_matrix(n, random);
    EXPECT_NEAR(to_coordinates(a).dot(to_coordinates(b)), product(a, b).trace().real(), 1e-14);
    EXPECT_LE(norm_distance(from_coordinates(to_coordinates(b)), b), 1e-15);
    EXPECT_NEAR(to_coordinates(a).head(n).sum(), 1.0, 1e-14);
  }
}

TEST(HermitianBasis, TheChannelMatrixIsTheChannel) {
  RandomStream random(55, Purpose::kTest);
  for (const Shape& shape : small_shapes()) {
    const Hqmm model = random_hqmm(shape, random);
    const RealMatrix channel = total_channel_matrix(model.sets[0]);
    const Matrix moved = from_coordinates(channel * to_coordinates(model.initial_state));
    EXPECT_LE(distance(moved, total_map(model.sets[0], widen(model.initial_state))), 1e-14);
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
