// The polar factor by singular value decomposition, and the norms of the theorem.
//
//   Z = UΣV†:  Polar(Z) = UV†,  ‖Z‖_* = Σ σ_i (nuclear),  ‖Z‖_op = σ_max (spectral)
//
// Reference and measurement: the learners' steps use newton_schulz.hpp instead.
#pragma once

#include "hqmm/core/types.hpp"

namespace hqmm::detail {

/// UV†, p × n. A rank-deficient Z has many polar factors; one of them is returned. A non-finite Z
/// comes back as it is. Give it a Stack: for an unevaluated expression overload resolution prefers
/// std::polar, which does not compile.
[[nodiscard]] Stack polar(const Stack& z);

/// Σ σ_i, from singular values. NaN when Z is not finite.
[[nodiscard]] double nuclear_norm(const Stack& z);

/// σ_max, from the largest eigenvalue of the smaller Gram matrix: relative error about min(p,n)
/// units in the last place. (Squaring hurts small singular values, not the largest.) NaN when Z is
/// not finite.
[[nodiscard]] double spectral_norm(const Stack& z);

/// ‖A − B‖_op
[[nodiscard]] double operator_distance(const Stack& a, const Stack& b);

}  // namespace hqmm::detail
