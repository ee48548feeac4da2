#include "hqmm/circuit/draft.hpp"

#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace hqmm::detail {
namespace {

constexpr double kNothing = 1e-14;  // a gate so near to a phase is none

bool only_a_phase(const Matrix2& gate) {
  return std::abs(gate(0, 1)) < kNothing && std::abs(gate(1, 0)) < kNothing &&
         std::abs(gate(0, 0) - gate(1, 1)) < kNothing;
}

/// A gate on its way into a circuit.
struct Pending {
  int control = Gate::kNone;
  int target = 0;
  Matrix2 rotation;
  bool dropped = false;
};

/// Gates one after the other: rotations on one qubit become one, two equal CNOTs none.
class Merger {
 public:
  explicit Merger(int qubits) : last_on_(static_cast<std::size_t>(qubits)) {}

  void rotate(int target, const Matrix2& gate) {
    auto& stack = on(target);
    if (!stack.empty() && gates_[stack.back()].control == Gate::kNone) {
      Pending& last = gates_[stack.back()];
      last.rotation = (gate * last.rotation).eval();
      if (only_a_phase(last.rotation)) drop_rotation(last, stack);
    } else if (only_a_phase(gate)) {
      phase_ += std::arg(gate(0, 0));
    } else {
      stack.push_back(gates_.size());
      gates_.push_back({Gate::kNone, target, gate});
    }
  }

  void cx(int control, int target) {
    auto& at_control = on(control);
    auto& at_target = on(target);
    if (!at_control.empty() && !at_target.empty() && at_control.back() == at_target.back()) {
      Pending& last = gates_[at_target.back()];
      if (last.control == control && last.target == target) {
        last.dropped = true;
        at_control.pop_back();
        at_target.pop_back();
        return;
      }
    }
    at_control.push_back(gates_.size());
    at_target.push_back(gates_.size());
    gates_.push_back({control, target, Matrix2::Identity()});
  }

  [[nodiscard]] const std::vector<Pending>& gates() const { return gates_; }
  [[nodiscard]] double phase() const { return phase_; }

 private:
  std::vector<std::size_t>& on(int qubit) { return last_on_[static_cast<std::size_t>(qubit)]; }
  void drop_rotation(Pending& gate, std::vector<std::size_t>& stack) {
    phase_ += std::arg(gate.rotation(0, 0));
    gate.dropped = true;
    stack.pop_back();
  }

  std::vector<Pending> gates_;
  std::vector<std::vector<std::size_t>> last_on_;  // per qubit: the gates that touch it
  double phase_ = 0.0;
};

/// The angles of a one-qubit gate; its phase is added to `phase`.
Gate rotation_gate(int target, const Matrix2& u, double& phase) {
  Gate out{target};
  const double cosine = std::abs(u(0, 0));
  const double sine = std::abs(u(1, 0));
  out.theta = 2.0 * std::atan2(sine, cosine);
  // Of two large entries and two that may be rounding: the angles follow the large ones.
  const double alpha = cosine > 0.0 ? std::arg(u(0, 0)) : 0.0;
  out.phi = sine > 0.0 ? std::arg(u(1, 0)) - alpha : 0.0;
  out.lambda = cosine >= sine ? std::arg(u(1, 1)) - alpha - out.phi : std::arg(-u(0, 1)) - alpha;
  out.phi = std::remainder(out.phi, 2.0 * std::numbers::pi);
  out.lambda = std::remainder(out.lambda, 2.0 * std::numbers::pi);
  phase += alpha;
  return out;
}

}  // namespace

void CircuitDraft::rotate(int target, const Matrix2& gate) {
  parts_.emplace_back(Rotation{target, gate});
}

void CircuitDraft::rz(int target, double angle) { rotate(target, rz_matrix(angle)); }

void CircuitDraft::ry(int target, double angle) { rotate(target, ry_matrix(angle)); }

void CircuitDraft::cx(int control, int target) { parts_.emplace_back(Cx{control, target}); }

void CircuitDraft::cz(int control, int target) {
  Matrix2 h;
  h << 1.0, 1.0, 1.0, -1.0;
  h *= std::sqrt(0.5);
  rotate(target, h);
  cx(control, target);
  rotate(target, h);
}

void CircuitDraft::two_qubit(const Matrix4& gate) { parts_.emplace_back(gate); }

void CircuitDraft::add(const TwoQubitGates& gates) {
  for (std::size_t k = 0; k < gates.layers.size(); ++k) {
    rotate(1, gates.layers[k].on_1);
    rotate(0, gates.layers[k].on_0);
    if (k < gates.controlled_by_1.size()) {
      gates.controlled_by_1[k] ? cx(1, 0) : cx(0, 1);
    }
  }
  phase_ += gates.phase;
}

CircuitDraft CircuitDraft::without_operators() const {
  std::size_t left = 0;
  for (const Part& part : parts_) left += std::holds_alternative<Matrix4>(part) ? 1U : 0U;
  CircuitDraft out(qubits_);
  out.phase_ = phase_;
  Eigen::Vector4cd diagonal = Eigen::Vector4cd::Ones();  // what the operator before has left
  for (const Part& part : parts_) {
    const auto* gate = std::get_if<Matrix4>(&part);
    if (gate == nullptr) {
      out.parts_.push_back(part);
    } else if (--left == 0) {
      out.add(two_qubit_gates(*gate * diagonal.asDiagonal()));
    } else {
      const UpToDiagonal found = up_to_diagonal(*gate * diagonal.asDiagonal());
      out.add(two_qubit_gates(found.rest));
      diagonal = found.diagonal;
    }
  }
  return out;
}

Circuit CircuitDraft::finish() const {
  const CircuitDraft simple = without_operators();
  Merger merger(qubits_);
  for (const Part& part : simple.parts_) {
    if (const auto* rotation = std::get_if<Rotation>(&part)) {
      merger.rotate(rotation->target, rotation->gate);
    } else {
      const auto& cx = std::get<Cx>(part);
      merger.cx(cx.control, cx.target);
    }
  }
  Circuit out{qubits_, {}, simple.phase_ + merger.phase()};
  for (const Pending& gate : merger.gates()) {
    if (gate.dropped) continue;
    out.gates.push_back(gate.control == Gate::kNone
                            ? rotation_gate(gate.target, gate.rotation, out.phase)
                            : Gate{gate.target, gate.control});
  }
  out.phase = std::remainder(out.phase, 2.0 * std::numbers::pi);
  return out;
}

}  // namespace hqmm::detail
