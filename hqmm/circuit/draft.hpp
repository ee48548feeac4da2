// A circuit while it is made: gates as matrices, and general operators on qubits 0 and 1 that are
// decomposed at the end, when it is known what may be moved from one into the next.
#pragma once

#include <variant>
#include <vector>

#include "hqmm/circuit/circuit.hpp"
#include "hqmm/circuit/two_qubit.hpp"

namespace hqmm::detail {

class CircuitDraft {
 public:
  explicit CircuitDraft(int qubits) : qubits_(qubits) {}

  [[nodiscard]] int qubits() const noexcept { return qubits_; }
  void rotate(int target, const Matrix2& gate);
  void rz(int target, double angle);
  void ry(int target, double angle);
  void cx(int control, int target);
  void cz(int control, int target);
  /// An operator on qubits 0 and 1. Between two of them, other gates may touch these qubits only as
  /// controls: the first one leaves a diagonal to the second, which saves it a CNOT.
  void two_qubit(const Matrix4& gate);
  void add_phase(double phase) { phase_ += phase; }

  /// Decomposes the operators, merges consecutive gates and drops those that do nothing.
  [[nodiscard]] Circuit finish() const;

 private:
  struct Cx {
    int control, target;
  };
  struct Rotation {
    int target;
    Matrix2 gate;
  };
  using Part = std::variant<Rotation, Cx, Matrix4>;

  /// The same with every operator decomposed.
  [[nodiscard]] CircuitDraft without_operators() const;
  void add(const TwoQubitGates& gates);

  int qubits_;
  std::vector<Part> parts_;
  double phase_ = 0.0;
};

}  // namespace hqmm::detail
