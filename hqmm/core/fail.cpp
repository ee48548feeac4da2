#include "hqmm/core/fail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hqmm::detail {
namespace {

/// The character that a text begins with.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;  // in bytes; 0 when these are not well-formed UTF-8
};

Character first_character(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) -> unsigned {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) return {};
  unsigned code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<unsigned, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length};
}

/// What could move the cursor, break the line, turn the writing direction or hide.
bool is_treacherous(char32_t code) noexcept {
  const auto among = [code](char32_t first, char32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || among(0x7F, 0x9F) || code == 0x061C || among(0x200E, 0x200F) ||
         among(0x2028, 0x202E) || among(0x2066, 0x2069) || code == 0xFEFF;
}

/// The first character as it may be shown: "\u202e" where it would do harm, "\x80" for a byte that
/// is not UTF-8. `text` loses it.
std::string take_shown(std::string_view& text, std::string_view kept) {
  const Character first = first_character(text);
  const std::string_view bytes = text.substr(0, std::max<std::size_t>(first.length, 1));
  text.remove_prefix(bytes.size());
  if (first.length == 0) return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
  if (!is_treacherous(first.code) || kept.find(bytes) != std::string_view::npos)
    return std::string(bytes);
  return fmt::format("\\u{:04x}", static_cast<unsigned>(first.code));
}

// An option in a text: kOpen id [kThen value] kClose.
constexpr char kOpen = '\x01', kThen = '\x02', kClose = '\x03';

std::string cpp_words(std::string_view id, std::string_view value) {
  return value.empty() ? std::string(id) : fmt::format("{} {}", id, value);
}

}  // namespace

std::string in_words(std::string_view text, const OptionNames& names) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find(kOpen);
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    text.remove_prefix(open + 1);
    const std::size_t close = std::min(text.find(kClose), text.size());
    const std::string_view ref = text.substr(0, close);
    const std::size_t then = std::min(ref.find(kThen), ref.size());
    const std::string_view value = ref.substr(std::min(then + 1, ref.size()));
    out += names ? names(ref.substr(0, then), value) : cpp_words(ref.substr(0, then), value);
    text.remove_prefix(std::min(close + 1, text.size()));
  }
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  const std::size_t size = text.size();
  while (!text.empty()) {
    const std::string shown = take_shown(text, "");
    if (size - text.size() > most) return out + "…";
    out += shown;
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) out += take_shown(text, "\n\t");
  return out;
}

}  // namespace hqmm::detail

fmt::format_context::iterator fmt::formatter<hqmm::detail::OptionRef>::format(
    const hqmm::detail::OptionRef& ref, format_context& context) const {
  if (ref.value.empty())
    return fmt::format_to(context.out(), "{}{}{}", hqmm::detail::kOpen, ref.id,
                          hqmm::detail::kClose);
  return fmt::format_to(context.out(), "{}{}{}{}{}", hqmm::detail::kOpen, ref.id,
                        hqmm::detail::kThen, ref.value, hqmm::detail::kClose);
}
