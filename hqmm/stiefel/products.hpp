// The products an update is made of, on complex matrices as they lie in memory.
//
//   C = s·AB + x·X + y·Y        A, C: p × n, B: n × n
//   C = A†B, and H = Z†Z exactly Hermitian
//
// An update of a learner is a handful of these with n of 2 to 32, where general complex products
// spend their time on anything but arithmetic. Numbers stay interleaved, re and im side by side, so
// that nothing is converted on the way in or out.
#pragma once

#include "hqmm/stiefel/square.hpp"

namespace hqmm::detail {

/// A matrix to read: where it begins, and how many numbers (two per element) its rows are apart.
struct Operand {
  Operand(const Stack& z) : at(reinterpret_cast<const double*>(z.data())), stride(2 * z.cols()) {}
  Operand(const Square& z) : at(z.data()), stride(z.stride()) {}

  const double* at;
  Index stride;
};

/// x·X, to be added to a product of the shape of X.
struct Term {
  Term() = default;
  Term(double factor_, const Operand& z) : factor(factor_), at(z.at), stride(z.stride) {}

  double factor = 0.0;
  const double* at = nullptr;  // null: nothing is added
  Index stride = 0;
};

/// C = s·AB + x·X + y·Y. C has its shape already; it is not A, but may be X or Y.
void multiply(const Stack& a, const Square& b, Stack& c, double s = 1.0, const Term& x = {},
              const Term& y = {});
/// C = A†B
void multiply_adjoint(const Stack& a, const Stack& b, const Square& c);
/// H = Z†Z, exactly Hermitian.
void gram(const Stack& z, const Square& h);

/// Y ← aX + bY
void blend(double a, const Stack& x, double b, Stack& y);
/// Y ← aY
void scale(double a, Stack& y);

}  // namespace hqmm::detail
