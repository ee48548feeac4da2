// Unitaries and isometries by gates: the quantum Shannon decomposition (Shende, Bullock and Markov,
// IEEE Trans. CAD 25 (2006) 1000) with both of its optimisations.
//
//   U = (L₀ ⊕ L₁) · (multiplexed Ry of the highest qubit) · (R₀ ⊕ R₁)      cosine–sine
//   L₀ ⊕ L₁ = (I ⊗ V) · (multiplexed Rz of the highest qubit) · (I ⊗ W)    L₀L₁† = VD²V†
//
// A unitary on q qubits takes at most 23/48·4^q − 3/2·2^q + 4/3 CNOTs. An isometry takes
// about a third, because some qubits start in |0⟩ and only the first columns matter: its R is a
// unitary of the other qubits alone, and W is an isometry again.
#pragma once

#include "hqmm/circuit/draft.hpp"

namespace hqmm::detail {

/// The most qubits of a unitary that is decomposed: half a million CNOTs.
inline constexpr int kMostUnitaryQubits = 10;

/// 23/48·4^q − 3/2·2^q + 4/3; none for one qubit.
[[nodiscard]] double shannon_bound(int qubits);

/// Adds gates on the first qubits of the draft that do this unitary, 2^q × 2^q, exactly.
void add_unitary(CircuitDraft& draft, const Matrix& unitary);

/// Adds gates on the first q qubits that map the basis state j to column j for the first 2^a of
/// them; columns is 2^q × 2^a, 1 ≤ a ≤ q, its columns orthonormal.
void add_isometry(CircuitDraft& draft, const Matrix& columns);

/// More columns, orthonormal to those given, up to `count`: the same every time.
[[nodiscard]] Matrix completed(const Matrix& columns, Index count);

}  // namespace hqmm::detail
