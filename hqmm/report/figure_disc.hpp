// Eigenvalues in the unit disc as SVG text: modulus is how long a mode lives, phase its period.
#pragma once

#include <complex>
#include <string>
#include <vector>

namespace hqmm::detail {

/// The same values give the same bytes.
[[nodiscard]] std::string draw_disc_svg(const std::string& title,
                                        const std::vector<std::complex<double>>& values);

}  // namespace hqmm::detail
