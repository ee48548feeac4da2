#include "hqmm/circuit/two_qubit.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace hqmm::detail {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr Complex kI{0.0, 1.0};
constexpr double kZeroCoordinate = 1e-12;

using Real4 = Eigen::Matrix4d;

/// Columns: the Bell states with the phases that make SU(2) ⊗ SU(2) the real rotations.
Matrix4 magic_basis() {
  const double r = std::sqrt(0.5);
  Matrix4 out;
  out << r, 0.0, 0.0, r * kI,  //
      0.0, r * kI, r, 0.0,     //
      0.0, r * kI, -r, 0.0,    //
      r, 0.0, 0.0, -r * kI;
  return out;
}

Matrix2 pauli(int axis) {
  Matrix2 out;
  if (axis == 0) out << 0.0, 1.0, 1.0, 0.0;
  if (axis == 1) out << 0.0, -kI, kI, 0.0;
  if (axis == 2) out << 1.0, 0.0, 0.0, -1.0;
  return out;
}

/// Turns the columns p and q of `vectors`, and both matrices with them.
void turn(int p, int q, double c, double s, std::array<Real4, 2>& matrices, Real4& vectors) {
  Real4 rotation = Real4::Identity();
  rotation(p, p) = rotation(q, q) = c;
  rotation(p, q) = -s;
  rotation(q, p) = s;
  for (Real4& m : matrices) m = (rotation.transpose() * m * rotation).eval();
  vectors = (vectors * rotation).eval();
}

/// Jacobi's method on both at once (Cardoso and Souloumiac, SIAM J. Matrix Anal. 17 (1996) 161).
void diagonalise(std::array<Real4, 2>& matrices, Real4& vectors) {
  for (int sweep = 0; sweep < 60; ++sweep) {
    double largest = 0.0;
    for (int p = 0; p < 3; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        double on = 0.0;
        double off = 0.0;
        for (const Real4& m : matrices) {
          const double difference = m(p, p) - m(q, q);
          const double twice = m(p, q) + m(q, p);
          on += difference * difference - twice * twice;
          off += 2.0 * difference * twice;
        }
        if (std::hypot(on, off) < 1e-31) continue;  // nothing but rounding
        const double angle = 0.25 * std::atan2(off, on);
        largest = std::max(largest, std::abs(angle));
        turn(p, q, std::cos(angle), std::sin(angle), matrices, vectors);
      }
    }
    if (largest < 1e-15) return;
  }
}

double off_diagonal(const std::array<Real4, 2>& matrices) {
  double out = 0.0;
  for (const Real4& m : matrices) out += (m - Real4(m.diagonal().asDiagonal())).norm();
  return out;
}

/// Orthonormal vectors that diagonalise two commuting symmetric matrices, whatever eigenvalues are
/// equal. The joint method alone may stall on matrices of much symmetry: it begins with the vectors
/// of a mixture, and of another one should that mixture have too many equal eigenvalues.
Real4 joint_eigenvectors(const std::array<Real4, 2>& matrices) {
  Real4 best = Real4::Identity();
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 8 && least > 1e-13; ++k) {
    const double share = 0.7 + 1.3 * k;
    std::array<Real4, 2> mixture{std::cos(share) * matrices[0] + std::sin(share) * matrices[1],
                                 Real4::Zero()};
    Real4 vectors = Real4::Identity();
    diagonalise(mixture, vectors);
    std::array<Real4, 2> turned{vectors.transpose() * matrices[0] * vectors,
                                vectors.transpose() * matrices[1] * vectors};
    diagonalise(turned, vectors);
    if (off_diagonal(turned) >= least) continue;
    least = off_diagonal(turned);
    best = vectors;
  }
  return best;
}

/// a and b of a ⊗ b.
std::array<Matrix2, 2> factors(const Matrix4& product) {
  Index row = 0;
  Index column = 0;
  product.cwiseAbs().maxCoeff(&row, &column);
  Matrix2 a;
  Matrix2 b;
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) {
      a(i, j) = product(2 * i + row % 2, 2 * j + column % 2);
      b(i, j) = product(2 * (row / 2) + i, 2 * (column / 2) + j);
    }
  }
  b /= b.norm() * std::sqrt(0.5);
  // What is left of the product is one number, of modulus 1.
  const Complex scale = a(row / 2, column / 2) * b(row % 2, column % 2) / product(row, column);
  a /= scale;
  return {a, b};
}

/// x, y, z each into [−π/4, π/4]: exp(i π/2 PP) = i P ⊗ P is local.
void reduce(CanonicalForm& form) {
  for (int axis = 0; axis < 3; ++axis) {
    double& value = form.xyz[static_cast<std::size_t>(axis)];
    const double turns = std::round(value / (kPi / 2.0));
    value -= turns * (kPi / 2.0);
    form.phase += turns * (kPi / 2.0);
    if (std::fmod(std::abs(turns), 2.0) == 1.0) {
      form.before_1 = (pauli(axis) * form.before_1).eval();
      form.before_0 = (pauli(axis) * form.before_0).eval();
    }
  }
}

int zero_coordinates(const CanonicalForm& form) {
  return static_cast<int>(std::count_if(form.xyz.begin(), form.xyz.end(),
                                        [](double v) { return std::abs(v) < kZeroCoordinate; }));
}

/// The axes moved on by one: x ← z, y ← x, z ← y. Q takes X to Y, Y to Z, Z to X.
void move_axes(CanonicalForm& form) {
  const Matrix2 q = 0.5 * (Matrix2::Identity() - kI * (pauli(0) + pauli(1) + pauli(2)));
  form.after_1 = (form.after_1 * q.adjoint()).eval();
  form.after_0 = (form.after_0 * q.adjoint()).eval();
  form.before_1 = (q * form.before_1).eval();
  form.before_0 = (q * form.before_0).eval();
  form.xyz = {form.xyz[2], form.xyz[0], form.xyz[1]};
}

/// The axis of the coordinate nearest to zero, or farthest from it.
std::size_t axis_of(const CanonicalForm& form, bool nearest) {
  const auto less = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto& v = form.xyz;
  return static_cast<std::size_t>((nearest ? std::min_element(v.begin(), v.end(), less)
                                           : std::max_element(v.begin(), v.end(), less)) -
                                  v.begin());
}

/// exp(iπ/4 ZX) = e^{−iπ/4} exp(iπ/4 ZI) exp(iπ/4 IX) CX, and H makes ZZ of it; −π/4 is another
/// ZZ/i away.
TwoQubitGates with_one_cnot(CanonicalForm form) {
  while (axis_of(form, false) != 2) move_axes(form);
  const double sign = form.xyz[2] > 0.0 ? 1.0 : -1.0;
  Matrix2 h;
  h << 1.0, 1.0, 1.0, -1.0;
  h *= std::sqrt(0.5);
  const Matrix2 half_x = std::sqrt(0.5) * (Matrix2::Identity() + kI * pauli(0));
  TwoQubitGates out;
  out.phase = form.phase - kPi / 4.0;
  if (sign < 0.0) {
    form.before_1 = (pauli(2) * form.before_1).eval();
    form.before_0 = (pauli(2) * form.before_0).eval();
    out.phase -= kPi / 2.0;
  }
  out.layers = {{form.before_1, h * form.before_0},
                {form.after_1 * rz_matrix(-kPi / 2.0), form.after_0 * h * half_x}};
  out.controlled_by_1 = {true};
  return out;
}

/// exp(i(x XX + z ZZ)) = CX (exp(ixX) ⊗ exp(izZ)) CX, controlled by qubit 1.
TwoQubitGates with_two_cnots(CanonicalForm form) {
  while (axis_of(form, true) != 1) move_axes(form);
  const double x = form.xyz[0];
  const Matrix2 turn_x = std::cos(x) * Matrix2::Identity() + std::sin(x) * kI * pauli(0);
  TwoQubitGates out;
  out.phase = form.phase;
  out.layers = {{form.before_1, form.before_0},
                {turn_x, rz_matrix(-2.0 * form.xyz[2])},
                {form.after_1, form.after_0}};
  out.controlled_by_1 = {true, true};
  return out;
}

/// Vatan and Williams, Phys. Rev. A 69 (2004) 032315, with S = diag(1, i):
/// e^{iπ/4} (I ⊗ S†) CX₀ (I ⊗ Ry(π/2 − 2x)) CX₁ (Rz(π/2 − 2z) ⊗ Ry(2y − π/2)) CX₀ (S ⊗ I)
TwoQubitGates with_three_cnots(const CanonicalForm& form) {
  Matrix2 s = Matrix2::Identity();
  s(1, 1) = kI;
  TwoQubitGates out;
  out.phase = form.phase + kPi / 4.0;
  out.layers = {
      {s * form.before_1, form.before_0},
      {rz_matrix(kPi / 2.0 - 2.0 * form.xyz[2]), ry_matrix(2.0 * form.xyz[1] - kPi / 2.0)},
      {Matrix2::Identity(), ry_matrix(kPi / 2.0 - 2.0 * form.xyz[0])},
      {form.after_1, form.after_0 * s.adjoint()}};
  out.controlled_by_1 = {false, true, false};
  return out;
}

Eigen::Vector4cd zz_phases(double angle) {
  const Complex plus = std::polar(1.0, angle);
  const Complex minus = std::conj(plus);
  return {plus, minus, minus, plus};
}

}  // namespace

Matrix2 rz_matrix(double angle) {
  Matrix2 out = Matrix2::Zero();
  out(0, 0) = std::polar(1.0, -angle / 2.0);
  out(1, 1) = std::polar(1.0, angle / 2.0);
  return out;
}

Matrix2 ry_matrix(double angle) {
  Matrix2 out;
  out << std::cos(angle / 2.0), -std::sin(angle / 2.0), std::sin(angle / 2.0),
      std::cos(angle / 2.0);
  return out;
}

Matrix4 kronecker(const Matrix2& a, const Matrix2& b) {
  Matrix4 out;
  for (Index i = 0; i < 2; ++i) {
    for (Index j = 0; j < 2; ++j) out.block<2, 2>(2 * i, 2 * j) = a(i, j) * b;
  }
  return out;
}

CanonicalForm canonical_form(const Matrix4& unitary) {
  static const Matrix4 basis = magic_basis();
  const Matrix4 m = basis.adjoint() * unitary * basis;
  const Matrix4 square = m.transpose() * m;  // symmetric and unitary: its parts commute
  Real4 p = joint_eigenvectors({square.real(), square.imag()});
  if (p.determinant() < 0.0) p.col(0) = -p.col(0);
  std::array<double, 4> d{};
  for (Index k = 0; k < 4; ++k) {
    const Complex value = p.col(k).transpose() * square * p.col(k);
    d[static_cast<std::size_t>(k)] = std::arg(value) / 2.0;
  }
  const auto left = [&] {
    Matrix4 out = m * p;
    for (Index k = 0; k < 4; ++k) out.col(k) *= std::polar(1.0, -d[static_cast<std::size_t>(k)]);
    return Real4(out.real());
  };
  Real4 q = left();
  if (q.determinant() < 0.0) {
    d[0] += kPi;
    q = left();
  }
  CanonicalForm out;
  out.phase = (d[0] + d[1] + d[2] + d[3]) / 4.0;
  out.xyz = {(d[0] + d[1] - d[2] - d[3]) / 4.0, (d[1] + d[3] - d[0] - d[2]) / 4.0,
             (d[0] + d[3] - d[1] - d[2]) / 4.0};
  const auto after = factors(basis * q.cast<Complex>() * basis.adjoint());
  const auto before = factors(basis * p.transpose().cast<Complex>() * basis.adjoint());
  out.after_1 = after[0];
  out.after_0 = after[1];
  out.before_1 = before[0];
  out.before_0 = before[1];
  reduce(out);
  return out;
}

TwoQubitGates two_qubit_gates(const Matrix4& unitary) {
  const CanonicalForm form = canonical_form(unitary);
  switch (zero_coordinates(form)) {
    case 3:
      return {{{form.after_1 * form.before_1, form.after_0 * form.before_0}}, {}, form.phase};
    case 2: {
      const double largest = std::abs(form.xyz[axis_of(form, false)]);
      if (std::abs(largest - kPi / 4.0) < kZeroCoordinate) return with_one_cnot(form);
      return with_two_cnots(form);
    }
    case 1:
      return with_two_cnots(form);
    default:
      return with_three_cnots(form);
  }
}

UpToDiagonal up_to_diagonal(const Matrix4& unitary) {
  UpToDiagonal out{Eigen::Vector4cd::Ones(), unitary};
  if (zero_coordinates(canonical_form(unitary)) > 0) return out;
  // Two CNOTs are enough for exp(iψ ZZ) U iff tr(M DYYD) is real, M = U YY Uᵀ, D the diagonal.
  const Complex phase = std::polar(1.0, -std::arg(unitary.determinant()) / 4.0);
  const Matrix4 special = phase * unitary;
  const Matrix4 m = special * kronecker(pauli(1), pauli(1)) * special.transpose();
  const Complex a = -m(0, 3);
  const Complex b = m(1, 2);
  double angle = 0.5 * std::atan2(-(a + b).imag(), (a - b).real());
  // The trace shows the angle to half of the digits where U is nearly a product; the coordinate
  // itself, to all. A few steps of the secant method on it. Only the sign of xyz is U's own.
  const auto coordinate = [&](double at) {
    const CanonicalForm form = canonical_form(zz_phases(at).asDiagonal() * unitary);
    const auto& [x, y, z] = form.xyz;
    return std::copysign(form.xyz[axis_of(form, true)], x * y * z);
  };
  double f = coordinate(angle);
  double before = angle + 100.0 * std::abs(f);
  double f_before = coordinate(before);
  for (int k = 0; k < 8 && std::abs(f) > 1e-15 && f != f_before; ++k) {
    const double next = angle - f * (angle - before) / (f - f_before);
    const double f_next = coordinate(next);
    if (!(std::abs(f_next) < std::abs(f))) break;
    before = std::exchange(angle, next);
    f_before = std::exchange(f, f_next);
  }
  if (std::abs(f) >= kZeroCoordinate) return out;
  out.diagonal = zz_phases(-angle);
  out.rest = zz_phases(angle).asDiagonal() * unitary;
  return out;
}

}  // namespace hqmm::detail
