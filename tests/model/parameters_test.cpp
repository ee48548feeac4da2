// Parameter counts against the rank of the Jacobian: how many independent ways there are to change
// the probabilities of short sequences.
#include "hqmm/model/parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hqmm/model/shape_parameters.hpp"
#include "support/matrices.hpp"
#include "support/reference.hpp"

namespace hqmm::detail::testing {
namespace {

/// Relative changes of the probabilities of all sequences up to `length`, along one direction.
/// `step(y, x)` is the unnormalised next state and `change(y, x)` what the direction adds to it.
template <typename State, typename Step, typename Change, typename Weight>
void differentiate(const State& x, const State& dx, std::size_t symbols, std::size_t length,
                   Step step, Change change, Weight weight, std::vector<double>& out) {
  if (length == 0) return;
  for (std::size_t y = 0; y < symbols; ++y) {
    const State next = step(y, x);
    const State moved = step(y, dx) + change(y, x);
    out.push_back(weight(moved) / weight(next));
    differentiate(next, moved, symbols, length - 1, step, change, weight, out);
  }
}

std::size_t rank_of(const std::vector<std::vector<double>>& columns) {
  RealMatrix jacobian(static_cast<Index>(columns.front().size()),
                      static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < columns[j].size(); ++i)
      jacobian(static_cast<Index>(i), static_cast<Index>(j)) = columns[j][i];
  const RealVector values = singular_values(jacobian.cast<Complex>());
  return static_cast<std::size_t>((values.array() > 1e-10 * values(0)).count());
}

/// Along one direction of the operators, free ones, at a model that starts from I/n.
std::vector<double> change_along(const KrausSet& set, const KrausSet& along, const Shape& shape,
                                 std::size_t length) {
  const auto step = [&](std::size_t y, const Matrix& rho) {
    return set.apply(static_cast<Index>(y), rho);
  };
  const auto change = [&](std::size_t y, const Matrix& rho) {
    Matrix out = Matrix::Zero(shape.n, shape.n);
    for (Index q = 0; q < shape.w; ++q) {
      const Matrix half =
          along.op(static_cast<Index>(y), q) * rho * set.op(static_cast<Index>(y), q).adjoint();
      out += half + half.adjoint();
    }
    return out;
  };
  const auto weight = [](const Matrix& rho) { return rho.trace().real(); };
  std::vector<double> out;
  differentiate(maximally_mixed(shape.n), Matrix(Matrix::Zero(shape.n, shape.n)),
                static_cast<std::size_t>(shape.s), length, step, change, weight, out);
  return out;
}

/// The tangent directions of the Stiefel manifold that change one entry, and what follows.
std::vector<Stack> tangent_directions(const Stack& gamma, Field field) {
  std::vector<Stack> out;
  const Index kinds = field == Field::kReal ? 1 : 2;
  for (Index k = 0; k < kinds * gamma.size(); ++k) {
    Stack direction = Stack::Zero(gamma.rows(), gamma.cols());
    direction(k / kinds / gamma.cols(), k / kinds % gamma.cols()) =
        k % kinds == 0 ? Complex(1.0) : Complex(0.0, 1.0);
    const Matrix inner = gamma.adjoint() * direction;
    direction -= gamma * (0.5 * (inner + inner.adjoint()));
    out.push_back(std::move(direction));
  }
  return out;
}

/// Along every tangent direction at a random model that starts from I/n: of Γ, or of V and the
/// columns of C.
std::size_t measured_hqmm(const Shape& shape, std::size_t length) {
  RandomStream random(51, Purpose::kTest);
  const KrausSet set = random_set(shape, random);
  const KrausSet free = set.expanded();
  std::vector<std::vector<double>> columns;
  for (const Stack& direction : tangent_directions(set.stack(), shape.field)) {
    const KrausSet along = shape.emission == EmissionKind::kEdge
                               ? KrausSet(shape.s, shape.w, direction)
                               : KrausSet(direction, set.emission()).expanded();
    columns.push_back(change_along(free, along, shape, length));
  }
  if (shape.emission == EmissionKind::kEdge) return rank_of(columns);
  for (Index k = 0; k < shape.s * shape.n; ++k) {
    const Index i = k % shape.n;
    const RealVector c = set.emission().col(i);
    RealMatrix direction = RealMatrix::Zero(shape.s, shape.n);
    direction(k / shape.n, i) = 1.0;
    direction.col(i) -= c(k / shape.n) * c;
    columns.push_back(
        change_along(free, KrausSet(set.transition(), direction).expanded(), shape, length));
  }
  return rank_of(columns);
}

HqmmShape counted(const Shape& shape) {
  return {shape.n, shape.s, shape.w, shape.field, shape.emission};
}

/// Along every direction of the edges that keeps column sums, and of the initial distribution.
std::size_t measured_edge_hmm(Index n, Index s, std::size_t length) {
  RandomStream random(52, Purpose::kTest);
  const EdgeHmm hmm = random_started_edge_hmm(n, s, random);
  std::vector<std::vector<double>> columns;
  const auto add = [&](const std::vector<RealMatrix>& along, const RealVector& initial) {
    columns.emplace_back();
    differentiate(
        hmm.initial, initial, static_cast<std::size_t>(s), length,
        [&](std::size_t y, const RealVector& x) { return RealVector(hmm.edges[y] * x); },
        [&](std::size_t y, const RealVector& x) { return RealVector(along[y] * x); },
        [](const RealVector& x) { return x.sum(); }, columns.back());
  };
  const std::vector<RealMatrix> still(static_cast<std::size_t>(s), RealMatrix::Zero(n, n));
  for (Index j = 0; j < n; ++j) {
    for (Index k = 1; k < s * n; ++k) {
      std::vector<RealMatrix> along = still;
      along[static_cast<std::size_t>(k / n)](k % n, j) += 1.0;
      along[0](0, j) -= 1.0;
      add(along, RealVector::Zero(n));
    }
    add(still,
        RealVector(RealVector::Unit(n, j) - RealVector::Constant(n, 1.0 / static_cast<double>(n))));
  }
  return rank_of(columns);
}

TEST(Parameters, OfAnHqmmAreTheRankOfTheJacobian) {
  for (const Shape& shape : {Shape{1, 3, 1}, Shape{2, 2, 1}, Shape{2, 3, 1}, Shape{2, 2, 2},
                             Shape{2, 3, 2}, Shape{3, 2, 1}}) {  // own constraints and freedoms
    EXPECT_EQ(measured_hqmm(shape, shape.s == 2 ? 7 : 5), hqmm_parameters(counted(shape)))
        << shape.n << ' ' << shape.s << ' ' << shape.w;
  }
  for (const Shape& shape : {Shape{2, 2, 3}, Shape{2, 2, 4}, Shape{2, 3, 3}, Shape{2, 2, 5}}) {
    // as much as n² coordinates can do
    EXPECT_EQ(measured_hqmm(shape, shape.s == 2 ? 7 : 5), hqmm_parameters(counted(shape)))
        << shape.n << ' ' << shape.s << ' ' << shape.w;
  }
}

TEST(Parameters, OfStructuredHqmmsAreTheRankOfTheJacobian) {
  for (const Shape& shape : {Shape{2, 2, 1}, Shape{2, 3, 1}, Shape{2, 2, 2}, Shape{2, 3, 2},
                             Shape{3, 2, 1}, Shape{3, 2, 2}, Shape{2, 2, 3}, Shape{2, 3, 4}}) {
    for (const Shape& kind : of_every_kind(shape)) {
      if (kind.field == Field::kComplex && kind.emission == EmissionKind::kEdge) continue;
      EXPECT_EQ(measured_hqmm(kind, shape.s == 2 ? 7 : 5), hqmm_parameters(counted(kind)))
          << shape.n << ' ' << shape.s << ' ' << shape.w << ' '
          << (kind.field == Field::kReal ? "real " : "complex ")
          << (kind.emission == EmissionKind::kEdge ? "edge" : "state");
    }
  }
}

TEST(Parameters, OfAnEdgeHmmAreTheRankOfTheJacobian) {
  EXPECT_EQ(measured_edge_hmm(2, 2, 5), edge_hmm_parameters(2, 2));
  EXPECT_EQ(measured_edge_hmm(3, 2, 6), edge_hmm_parameters(3, 2));
  EXPECT_EQ(measured_edge_hmm(2, 3, 4), edge_hmm_parameters(2, 3));
}

TEST(Parameters, OfSizesWithKnownCounts) {
  // 2·4·2·64 − 64 real dimensions, without 63 of the basis and 4·4 of the mixing
  EXPECT_EQ(hqmm_parameters({8, 4, 2}), 960U - 63U - 16U);
  EXPECT_EQ(hqmm_parameters({1, 5, 3}), 4U);  // one distribution of five symbols
  EXPECT_EQ(hqmm_parameters({4, 1, 2}), 0U);
  EXPECT_EQ(hqmm_parameters({11, 4, 2, Field::kReal}), 843U);
  EXPECT_EQ(hqmm_parameters({39, 27, 2, Field::kReal, EmissionKind::kState}), 3275U);
  EXPECT_EQ(hqmm_parameters({16, 4, 2, Field::kComplex, EmissionKind::kState}), 797U);
  EXPECT_EQ(hmm_parameters(8, 4), 56U + 24U + 7U);
  EXPECT_EQ(hmm_parameters(5, 2), edge_hmm_parameters(5, 2));
  EXPECT_EQ(edge_hmm_parameters(1, 4), 3U);
}

TEST(Parameters, OfAModelFollowItsSizesAndItsInitialState) {
  RandomStream random(53, Purpose::kTest);
  const Shape shape{3, 4, 2};
  Hqmm model = random_hqmm(shape, random);
  EXPECT_EQ(parameter_count(model), hqmm_parameters({3, 4, 2}, 8));
  model.initial_state = random_pure_state(3, random);
  EXPECT_EQ(parameter_count(model), hqmm_parameters({3, 4, 2}, 4));
  model.initial_state = maximally_mixed(3);
  EXPECT_EQ(parameter_count(model), hqmm_parameters({3, 4, 2}));
  Hqmm real = random_hqmm({3, 4, 2, Field::kReal, EmissionKind::kState}, random);
  const HqmmShape sizes{3, 4, 2, Field::kReal, EmissionKind::kState};
  EXPECT_EQ(parameter_count(real), hqmm_parameters(sizes, 5));
  real.initial_state = random_pure_state(3, random, Field::kReal);
  EXPECT_EQ(parameter_count(real), hqmm_parameters(sizes, 2));
  EXPECT_EQ(parameter_count(random_started_hmm(3, 4, random)), hmm_parameters(3, 4));
  EXPECT_EQ(parameter_count(random_started_edge_hmm(3, 4, random)), edge_hmm_parameters(3, 4));
}

}  // namespace
}  // namespace hqmm::detail::testing
