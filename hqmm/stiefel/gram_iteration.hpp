// Newton–Schulz on the Gram matrix: polynomials Q of H = Z†Z such that ZQ has the singular values
// wanted. All matrices here are n × n polynomials of one Hermitian matrix: they commute, and their
// products are Hermitian.
//
//   literal      P = aI + bH + cH²                       five times, say, whatever H is
//   convergent   P = Σ_{k≤d} (−½ over k) (H − I)^k       d = 2: (15I − 10H + 3H²)/8
//   both         Q ← QP,  H ← PHP
//
// The convergent polynomial is the beginning of the series of H^{-1/2}: a step takes ‖H − I‖ = e to
// about e^{d+1}. Steps are of degree 2 until one of degree 8 or less can be the last.
#pragma once

#include <array>

#include "hqmm/stiefel/square.hpp"

namespace hqmm::detail {

/// ‖H − I‖_F, ‖H‖²_F and tr H.
struct GramNorms {
  double residual = 0.0, squares = 0.0, trace = 0.0;
};

class GramIteration {
 public:
  GramIteration() = default;
  GramIteration(const GramIteration&) = delete;
  GramIteration& operator=(const GramIteration&) = delete;
  ~GramIteration() = default;

  /// For n × n matrices. Allocates only when n is larger than ever before.
  void resize(Index n);
  /// H, to be filled in before a run, which overwrites it.
  [[nodiscard]] const Square& gram() noexcept { return squares_[kGram]; }
  /// Of the H filled in. Uses scratch, so one thread at a time.
  [[nodiscard]] GramNorms norms();

  /// Q of `steps` ≥ 0 literal steps that begin with cH; √c is left out of Q.
  void run_literal(double c, int steps);
  struct Outcome {
    int steps = 0;
    bool finished = false;  // the last step leaves ‖H − I‖_F at 1e-13; not if the budget ended it
  };
  /// Q of at most `budget` ≥ 1 convergent steps that begin with cH, whose eigenvalues lie in
  /// (0, 7/3); √c is left out of Q.
  [[nodiscard]] Outcome run_convergent(double c, int budget);
  /// Q of the last run.
  [[nodiscard]] const Square& factor() const noexcept { return squares_[kFactor]; }

  using Squares = std::array<Square, 6>;  // H, Q and four of scratch

 private:
  static constexpr std::size_t kGram = 0, kFactor = 1, kScratch = 2;

  SquareMemory memory_;
  Squares squares_;
  Square identity_;
};

}  // namespace hqmm::detail
