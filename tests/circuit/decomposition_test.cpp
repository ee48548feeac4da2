// Unitaries and isometries by gates: what the gates do, and how many there are.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "hqmm/circuit/cosine_sine.hpp"
#include "hqmm/circuit/multiplexed.hpp"
#include "hqmm/circuit/shannon.hpp"
#include "hqmm/circuit/two_qubit.hpp"
#include "support/circuits.hpp"
#include "support/matrices.hpp"

namespace hqmm::detail::testing {
namespace {

constexpr double kExact = 1e-11;

Matrix random_unitary(Index size, RandomStream& random) { return feasible(size, size, random); }

Circuit circuit_of(const Matrix& unitary) {
  int qubits = 0;
  while ((Index{1} << qubits) < unitary.rows()) ++qubits;
  CircuitDraft draft(qubits);
  add_unitary(draft, unitary);
  return draft.finish();
}

void expect_cnots(const Matrix& unitary, std::size_t most, const char* what) {
  const Circuit circuit = circuit_of(unitary);
  EXPECT_LT((naive_unitary(circuit) - unitary).norm(), kExact) << what << unitary.rows();
  EXPECT_LE(cost_of(circuit).cnots, most) << what << " " << unitary.rows();
}

Matrix4 interaction(double x, double y, double z) {
  Matrix2 px, py, pz;
  px << 0.0, 1.0, 1.0, 0.0;
  py << 0.0, Complex(0, -1), Complex(0, 1), 0.0;
  pz << 1.0, 0.0, 0.0, -1.0;
  const auto factor = [](double angle, const Matrix2& p) -> Matrix4 {
    return std::cos(angle) * Matrix4::Identity() + Complex(0.0, std::sin(angle)) * kronecker(p, p);
  };
  return factor(x, px) * factor(y, py) * factor(z, pz);
}

Matrix4 random_product(RandomStream& random) {
  return kronecker(random_unitary(2, random), random_unitary(2, random));
}

TEST(TwoQubit, RandomOperatorsTakeThreeCnotsAndTwoUpToADiagonal) {
  RandomStream random(1, Purpose::kTest);
  for (int k = 0; k < 200; ++k) {
    const Matrix4 u = random_unitary(4, random);
    expect_cnots(u, 3, "random");
    const UpToDiagonal found = up_to_diagonal(u);
    EXPECT_LT((found.diagonal.asDiagonal() * found.rest - u).norm(), kExact);
    EXPECT_LE(two_qubit_gates(found.rest).controlled_by_1.size(), 2U);
  }
}

TEST(TwoQubit, FewerCnotsWhereTheyAreEnough) {
  constexpr double kPi4 = std::numbers::pi / 4.0;
  RandomStream random(2, Purpose::kTest);
  for (int k = 0; k < 30; ++k) {
    const Matrix4 before = random_product(random);
    const Matrix4 after = random_product(random);
    const auto between = [&](double x, double y, double z) -> Matrix {
      return after * interaction(x, y, z) * before;
    };
    expect_cnots(between(0.0, 0.0, 0.0), 0, "product");
    expect_cnots(between(2 * kPi4, -2 * kPi4, 4 * kPi4), 0, "product in disguise");
    expect_cnots(between(kPi4, 0.0, 0.0), 1, "CNOT");
    expect_cnots(between(0.0, -kPi4, 2 * kPi4), 1, "CNOT in disguise");
    expect_cnots(between(0.3, 0.0, 0.0), 2, "one interaction");
    expect_cnots(between(0.3, 0.0, -0.2), 2, "two interactions");
    expect_cnots(between(0.1, 0.3, 2 * kPi4), 2, "two in disguise");
    expect_cnots(between(kPi4, kPi4, kPi4), 3, "SWAP");
    for (const double tiny : {1e-3, 1e-6, 1e-9, 1e-13})
      expect_cnots(between(tiny, 0.7 * tiny, -0.4 * tiny), 3, "nearly a product");
  }
}

// Where the diagonal is lost in rounding, the operator is still what it was.
TEST(TwoQubit, NearlyDegenerateOperators) {
  RandomStream random(3, Purpose::kTest);
  for (const double tiny : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
    for (int k = 0; k < 20; ++k) {
      const Matrix4 u =
          random_product(random) * interaction(tiny, 0.7 * tiny, 0.4) * random_product(random);
      const UpToDiagonal found = up_to_diagonal(u);
      EXPECT_LT((found.diagonal.asDiagonal() * found.rest - u).norm(), kExact);
      EXPECT_LE(two_qubit_gates(found.rest).controlled_by_1.size(), tiny < 1e-6 ? 3U : 2U);
    }
  }
}

TEST(CosineSine, PutTogetherAgain) {
  RandomStream random(4, Purpose::kTest);
  for (const Index m : {1, 2, 4, 8, 16}) {
    for (Index p = 1; p <= m; p *= 2) {
      for (const double scale : {1.0, 1e-4, 1e-9, 0.0}) {
        // Also with angles that are nearly, or exactly, 0 and π/2.
        Matrix x = Matrix::Identity(2 * m, p) + scale * Matrix(gaussian(2 * m, p, random));
        if (p > 1) x.row(0).swap(x.row(2 * m - 1));
        const Matrix columns = completed(Matrix(x.colwise().normalized()).leftCols(1), 2 * m);
        for (const Matrix& input :
             {Matrix(columns.leftCols(p)), Matrix(feasible(2 * m, p, random))}) {
          const CosineSine found = cosine_sine(input);
          Matrix again(2 * m, p);
          again << found.left_0.leftCols(p) * found.angles.array().cos().matrix().asDiagonal(),
              found.left_1.leftCols(p) * found.angles.array().sin().matrix().asDiagonal();
          EXPECT_LT((again * found.right - input).norm(), 1e-13 * static_cast<double>(m + 5));
          for (const Matrix& unitary : {found.left_0, found.left_1, found.right})
            EXPECT_LT(
                (unitary.adjoint() * unitary - Matrix::Identity(unitary.rows(), unitary.rows()))
                    .norm(),
                1e-13 * static_cast<double>(m + 5));
        }
      }
    }
  }
}

TEST(Multiplexed, RotatesByTheAngleThatTheControlsSelect) {
  RandomStream random(5, Purpose::kTest);
  for (const Axis axis : {Axis::kY, Axis::kZ}) {
    std::vector<double> angles;
    for (int j = 0; j < 8; ++j) angles.push_back(random.normal());
    CircuitDraft draft(4);
    const std::vector<int> controls{3, 0, 2};
    add_multiplexed(draft, axis, controls, 1, angles);
    const Circuit circuit = draft.finish();
    EXPECT_EQ(cost_of(circuit).cnots, 8U);
    const Matrix found = naive_unitary(circuit);
    for (Index i = 0; i < 16; ++i) {
      if ((i & 2) != 0) continue;
      const auto selected = static_cast<std::size_t>((i >> 3 & 1) + 2 * (i & 1) + 4 * (i >> 2 & 1));
      const Matrix2 wanted =
          axis == Axis::kY ? ry_matrix(angles[selected]) : rz_matrix(angles[selected]);
      EXPECT_NEAR(std::abs(found(i, i) - wanted(0, 0)), 0.0, 1e-13);
      EXPECT_NEAR(std::abs(found(i | 2, i) - wanted(1, 0)), 0.0, 1e-13);
      EXPECT_NEAR(std::abs(found(i | 2, i | 2) - wanted(1, 1)), 0.0, 1e-13);
    }
  }
}

TEST(Multiplexed, PreparesComplexStates) {
  RandomStream random(6, Purpose::kTest);
  for (int qubits = 1; qubits <= 4; ++qubits) {
    Vector amplitudes = Matrix(gaussian(Index{1} << qubits, 1, random)).col(0).normalized();
    amplitudes(0) = 0.0;
    amplitudes.normalize();
    CircuitDraft draft(qubits);
    std::vector<int> all;
    for (int k = 0; k < qubits; ++k) all.push_back(k);
    add_state(draft, all, amplitudes);
    EXPECT_LT((unitary_columns(draft.finish(), 1).col(0) - amplitudes).norm(), 1e-13);
  }
}

TEST(Shannon, RandomUnitariesWithinTheBound) {
  RandomStream random(7, Purpose::kTest);
  for (int qubits = 1; qubits <= 5; ++qubits) {
    for (int k = 0; k < 6; ++k) {
      const Matrix u = random_unitary(Index{1} << qubits, random);
      const Circuit circuit = circuit_of(u);
      EXPECT_LT((naive_unitary(circuit) - u).norm(), kExact) << qubits;
      EXPECT_LE(static_cast<double>(cost_of(circuit).cnots), shannon_bound(qubits) + 1e-9);
    }
  }
  EXPECT_DOUBLE_EQ(shannon_bound(2), 3.0);
  EXPECT_DOUBLE_EQ(shannon_bound(3), 20.0);
  EXPECT_DOUBLE_EQ(shannon_bound(4), 100.0);
}

TEST(Shannon, UnitariesOfStructureWithinTheBound) {
  RandomStream random(8, Purpose::kTest);
  for (int qubits = 2; qubits <= 5; ++qubits) {
    const Index size = Index{1} << qubits;
    Matrix shifted = Matrix::Zero(size, size);
    Matrix fourier(size, size);
    for (Index i = 0; i < size; ++i) {
      shifted((i + 1) % size, i) = 1.0;
      for (Index j = 0; j < size; ++j)
        fourier(i, j) = std::polar(
            1.0 / std::sqrt(static_cast<double>(size)),
            2.0 * std::numbers::pi * static_cast<double>(i * j % size) / static_cast<double>(size));
    }
    Matrix halves = Matrix::Identity(size, size);
    halves.bottomRightCorner(size / 2, size / 2) = random_unitary(size / 2, random);
    const Matrix vectors = random_unitary(size, random);
    Vector turns = Vector::Ones(size);
    turns.tail(1).setConstant(-1.0);
    const Matrix reflection = vectors * turns.asDiagonal() * vectors.adjoint();
    const auto most = static_cast<std::size_t>(shannon_bound(qubits) + 1e-9);
    expect_cnots(Matrix::Identity(size, size), 0, "identity");
    expect_cnots(shifted, most, "shift");
    expect_cnots(shifted.transpose(), most, "shift back");
    expect_cnots(fourier, most, "Fourier");
    expect_cnots(halves, most, "half identity");
    expect_cnots(reflection, most, "reflection");
    expect_cnots(fourier.real() + Complex(0, 1) * fourier.imag(), most, "again");
  }
}

TEST(Shannon, IsometriesTakeFewerGates) {
  RandomStream random(9, Purpose::kTest);
  for (int qubits = 2; qubits <= 5; ++qubits) {
    for (int given = 1; given < qubits; ++given) {
      const Matrix columns = feasible(Index{1} << qubits, Index{1} << given, random);
      CircuitDraft draft(qubits);
      add_isometry(draft, columns);
      const Circuit circuit = draft.finish();
      EXPECT_LT((unitary_columns(circuit, columns.cols()) - columns).norm(), kExact);
      EXPECT_LT((naive_unitary(circuit).leftCols(columns.cols()) - columns).norm(), kExact);
      const double share = qubits == 2 ? 1.0 : 0.75;
      EXPECT_LE(static_cast<double>(cost_of(circuit).cnots), share * shannon_bound(qubits));
    }
  }
}

TEST(Shannon, TheSameGatesEveryTime) {
  RandomStream random(10, Purpose::kTest);
  const Matrix u = random_unitary(8, random);
  const Circuit first = circuit_of(u);
  const Circuit second = circuit_of(u);
  ASSERT_EQ(first.gates.size(), second.gates.size());
  for (std::size_t k = 0; k < first.gates.size(); ++k) {
    EXPECT_EQ(first.gates[k].theta, second.gates[k].theta);
    EXPECT_EQ(first.gates[k].phi, second.gates[k].phi);
    EXPECT_EQ(first.gates[k].lambda, second.gates[k].lambda);
  }
}

}  // namespace
}  // namespace hqmm::detail::testing
