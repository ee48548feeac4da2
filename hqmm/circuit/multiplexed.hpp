// Multiplexed rotations: a rotation of one qubit by an angle that others select, by as many CNOTs
// as there are angles; and real and complex states made of them.
//
// The angles of the gates are the Walsh–Hadamard transform of those selected, taken along a Gray
// code: from one gate to the next a single control bit changes (Möttönen et al., Phys. Rev. Lett.
// 93 (2004) 130502).
#pragma once

#include <span>
#include <vector>

#include "hqmm/circuit/draft.hpp"

namespace hqmm::detail {

enum class Axis { kY, kZ };

/// Rotates `target` by angles[j], j the number that the controls hold, the first its lowest bit.
void add_multiplexed(CircuitDraft& draft, Axis axis, std::span<const int> controls, int target,
                     const std::vector<double>& angles);

/// The same about Y, but for a last CZ between the last control and the target: true when it is
/// due. Being diagonal, it may be a part of what comes next.
[[nodiscard]] bool add_multiplexed_ry_but_cz(CircuitDraft& draft, std::span<const int> controls,
                                             int target, const std::vector<double>& angles);

/// From |0…0⟩ of these qubits, the first the lowest, to the state with these amplitudes.
void add_state(CircuitDraft& draft, std::span<const int> qubits, const Vector& amplitudes);

/// For every number j that the controls hold: from |0…0⟩ to Σ_y amplitudes(y, j) |y⟩.
void add_multiplexed_real_state(CircuitDraft& draft, std::span<const int> controls,
                                std::span<const int> qubits, const RealMatrix& amplitudes);

}  // namespace hqmm::detail
