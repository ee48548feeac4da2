// The words of the reproduction: sections of page.md and terminal.md, which the build puts into the
// program. What is said is there; when it is said is decided by the code that asks for it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Both files, one after the other; defined in a source that CMake writes.
extern const std::string_view kProse;

/// The text of a section as it is in the file, without the newlines at its ends. Throws kInternal
/// when there is none of that name.
[[nodiscard]] std::string_view section(std::string_view name);

/// A section with its {placeholders} filled in: prose("quick", fmt::arg("seeds", 5)).
template <typename... Args>
[[nodiscard]] std::string prose(std::string_view name, Args&&... args) {
  return fmt::format(fmt::runtime(section(name)), std::forward<Args>(args)...);
}

}  // namespace hqmm::cli
