#include "hqmm/circuit/multiplexed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace hqmm::detail {
namespace {

constexpr double kNoAngle = 1e-14;

std::size_t gray(std::size_t i) { return i ^ (i >> 1U); }

/// Of the gates, in their order: Σ_j (−1)^{j · gray(i)} angles[j] / 2^k.
std::vector<double> gate_angles(std::vector<double> angles) {
  const std::size_t count = angles.size();
  for (std::size_t step = 1; step < count; step *= 2) {
    for (std::size_t j = 0; j < count; ++j) {
      if ((j & step) != 0) continue;
      const double sum = angles[j] + angles[j | step];
      angles[j | step] = angles[j] - angles[j | step];
      angles[j] = sum;
    }
  }
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = angles[gray(i)] / static_cast<double>(count);
  return out;
}

bool all_zero(const std::vector<double>& angles) {
  return std::all_of(angles.begin(), angles.end(), [](double a) { return std::abs(a) < kNoAngle; });
}

/// Calls rotate(angle) and flip(control) in turn, the last flip with the last control.
template <typename Rotate, typename Flip>
void walk(std::span<const int> controls, const std::vector<double>& angles, Rotate rotate,
          Flip flip) {
  const std::vector<double> gates = gate_angles(angles);
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (std::abs(gates[i]) >= kNoAngle) rotate(gates[i]);
    if (controls.empty()) continue;
    const bool last = i + 1 == gates.size();
    const auto bit = last ? controls.size() - 1 : static_cast<std::size_t>(std::countr_zero(i + 1));
    flip(controls[bit], last);
  }
}

/// Angles of Ry that split the weight of every pair of `amplitudes`, which become their norms.
std::vector<double> split(std::vector<double>& amplitudes) {
  std::vector<double> angles(amplitudes.size() / 2);
  for (std::size_t j = 0; j < angles.size(); ++j) {
    const double zero = amplitudes[2 * j];
    const double one = amplitudes[2 * j + 1];
    angles[j] = 2.0 * std::atan2(one, zero);
    amplitudes[j] = std::hypot(zero, one);
  }
  amplitudes.resize(angles.size());
  return angles;
}

}  // namespace

void add_multiplexed(CircuitDraft& draft, Axis axis, std::span<const int> controls, int target,
                     const std::vector<double>& angles) {
  if (all_zero(angles)) return;
  walk(
      controls, angles,
      [&](double angle) { axis == Axis::kY ? draft.ry(target, angle) : draft.rz(target, angle); },
      [&](int control, bool) { draft.cx(control, target); });
}

bool add_multiplexed_ry_but_cz(CircuitDraft& draft, std::span<const int> controls, int target,
                               const std::vector<double>& angles) {
  if (all_zero(angles)) return false;
  walk(
      controls, angles, [&](double angle) { draft.ry(target, angle); },
      [&](int control, bool last) {
        if (!last) draft.cz(control, target);
      });
  return !controls.empty();
}

void add_state(CircuitDraft& draft, std::span<const int> qubits, const Vector& amplitudes) {
  const auto count = static_cast<Index>(amplitudes.size());
  add_multiplexed_real_state(draft, {}, qubits, amplitudes.cwiseAbs());
  std::vector<double> phases(static_cast<std::size_t>(count));
  for (Index j = 0; j < count; ++j) {
    phases[static_cast<std::size_t>(j)] =
        std::abs(amplitudes(j)) > 0.0 ? std::arg(amplitudes(j)) : 0.0;
  }
  for (std::size_t k = 0; k < qubits.size(); ++k) {
    std::vector<double> angles(phases.size() / 2);
    for (std::size_t j = 0; j < angles.size(); ++j) {
      angles[j] = phases[2 * j + 1] - phases[2 * j];
      phases[j] = 0.5 * (phases[2 * j] + phases[2 * j + 1]);
    }
    phases.resize(angles.size());
    add_multiplexed(draft, Axis::kZ, qubits.subspan(k + 1), qubits[k], angles);
  }
  draft.add_phase(phases.front());
}

void add_multiplexed_real_state(CircuitDraft& draft, std::span<const int> controls,
                                std::span<const int> qubits, const RealMatrix& amplitudes) {
  // One vector whose index has the bits of y below those of the controls.
  std::vector<double> weights(amplitudes.data(), amplitudes.data() + amplitudes.size());
  std::vector<std::vector<double>> angles;
  for (std::size_t k = 0; k < qubits.size(); ++k) angles.push_back(split(weights));
  for (std::size_t k = qubits.size(); k-- > 0;) {
    std::vector<int> selected(qubits.begin() + static_cast<std::ptrdiff_t>(k) + 1, qubits.end());
    selected.insert(selected.end(), controls.begin(), controls.end());
    add_multiplexed(draft, Axis::kY, selected, qubits[k], angles[k]);
  }
}

}  // namespace hqmm::detail
