// Enums as text, one spelling for all: name_of(value) is a function beside each enum that files and
// options name, and parse<Enum>(name) the way back.
#pragma once

#include <string_view>

#include "hqmm/core/export.hpp"

namespace HQMM_API hqmm {

/// The value that name_of() calls so. Throws kUsage with the names that there are.
template <typename Enum>
[[nodiscard]] Enum parse(std::string_view name);

}  // namespace hqmm
