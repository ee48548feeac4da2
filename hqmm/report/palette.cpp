#include "hqmm/report/palette.hpp"

#include <array>
#include <utility>

namespace hqmm::detail {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;
constexpr std::array<Entry, 9> kPalette{{{"ns-ris", "#0072b2"},
                                         {"ns-ris-literal", "#d55e00"},
                                         {"ns-ris-paper", "#56b4e9"},
                                         {"ns-ris-paper-small", "#7f7f7f"},
                                         {"ns-ris-literal-small", "#a0522d"},
                                         {"ns-ris-warm", "#8a63d2"},
                                         {"cosm", "#009e73"},
                                         {"givens", "#cc79a7"},
                                         {"em", "#e69f00"}}};

}  // namespace

std::string_view method_colour(std::string_view method) {
  for (const auto& [name, colour] : kPalette)
    if (name == method) return colour;
  return "#7f7f7f";
}

}  // namespace hqmm::detail
