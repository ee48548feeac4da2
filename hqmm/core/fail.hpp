// How the library makes an Error: fail(), options named in messages, and text of unknown origin
// made fit to be shown.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "hqmm/core/error.hpp"

namespace hqmm::detail {

/// An option that a message speaks of, by the name of its member, and perhaps a value to give it:
/// option("latent_dim"), option("burn_in", 0). In a text it is written between marks that
/// printable() never lets through.
struct OptionRef {
  std::string_view id;
  std::string value{};
};
[[nodiscard]] inline OptionRef option(std::string_view id) { return {id}; }
template <typename Value>
[[nodiscard]] OptionRef option(std::string_view id, const Value& value) {
  return {id, fmt::format("{}", value)};
}

/// A text with its options in the words of `names`; without them in those of C++.
[[nodiscard]] std::string in_words(std::string_view text, const OptionNames& names = {});

[[nodiscard]] inline int exit_status(ErrorCode code) noexcept { return static_cast<int>(code); }

/// throw fail(ErrorCode::kBadData, where, "expected {}, found {}", a, b);
template <typename... Args>
[[nodiscard]] Error fail(ErrorCode code, Where where, fmt::format_string<Args...> format,
                         Args&&... args) {
  return {code, fmt::format(format, std::forward<Args>(args)...), std::move(where)};
}
template <typename... Args>
[[nodiscard]] Error fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return {code, fmt::format(format, std::forward<Args>(args)...)};
}

/// Text of unknown origin made safe for one line of a terminal, always valid UTF-8: characters that
/// move the cursor, turn the writing direction or hide become "\u001b", bytes that are not UTF-8
/// "\x80", and no more than `most` bytes of it are shown.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 40);
/// The same for text of several lines: newlines and tabs stay, and nothing is cut off. JSON stays
/// JSON.
[[nodiscard]] std::string printable_lines(std::string_view text);

}  // namespace hqmm::detail

template <>
struct fmt::formatter<hqmm::detail::OptionRef> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  format_context::iterator format(const hqmm::detail::OptionRef& ref,
                                  format_context& context) const;
};
