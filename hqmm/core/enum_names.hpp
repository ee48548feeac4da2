// Tables of the names of enums, from which name_of() and parse() are made.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/enum_text.hpp"
#include "hqmm/core/fail.hpp"

namespace hqmm::detail {

template <typename Kind, std::size_t N>
using Names = std::array<std::pair<Kind, std::string_view>, N>;

/// EnumNames<Kind>::kAll, and what a value is called as a noun.
template <typename Kind>
struct EnumNames;

template <typename Kind>
[[nodiscard]] std::string_view enum_name(Kind kind) {
  for (const auto& [value, name] : EnumNames<Kind>::kAll) {
    if (value == kind) return name;
  }
  return "?";
}

template <typename Kind>
[[nodiscard]] std::vector<std::string_view> enum_words() {
  std::vector<std::string_view> out;
  for (const auto& [value, name] : EnumNames<Kind>::kAll) out.push_back(name);
  return out;
}

/// Throws kUsage listing the names.
template <typename Kind>
[[nodiscard]] Kind enum_named(std::string_view text) {
  for (const auto& [value, name] : EnumNames<Kind>::kAll) {
    if (name == text) return value;
  }
  throw fail(ErrorCode::kUsage, "there is no {} '{}': known are {}", EnumNames<Kind>::kWhat,
             printable(text), fmt::join(enum_words<Kind>(), ", "));
}

}  // namespace hqmm::detail
