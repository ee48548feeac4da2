// One colour for each method, in every figure that hqmm draws: Okabe and Ito's, which colour-blind
// readers tell apart. report/src/palette.ts has the same; a test compares the two.
#pragma once

#include <string_view>

namespace hqmm::detail {

/// Of "ns-ris", "ns-ris-literal", "cosm", "em", …, as "#0072b2"; grey for a name that is unknown.
[[nodiscard]] std::string_view method_colour(std::string_view method);

}  // namespace hqmm::detail
