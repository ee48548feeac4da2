#include "hqmm/io/json_text.hpp"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

using nlohmann::json;

/// Walks over the bytes of a JSON text that are not inside a string, valid or not.
class OutsideStrings {
 public:
  explicit OutsideStrings(std::string_view text) : text_(text) {}

  /// The position of the next one; nothing at the end.
  std::optional<std::size_t> next() {
    while (at_ < text_.size() && text_[at_] == '"') skip_string();
    if (at_ >= text_.size()) return {};
    return at_++;
  }

 private:
  void skip_string() {
    while (++at_ < text_.size() && text_[at_] != '"')
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The bracket that goes too deep, if there is one.
std::optional<std::size_t> too_deep_at(std::string_view text) {
  OutsideStrings bytes(text);
  std::size_t depth = 0;
  while (const auto at = bytes.next()) {
    const char c = text[*at];
    if ((c == '[' || c == '{') && ++depth > kDeepestJson) return at;
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return {};
}

/// The first number that a double cannot hold. Asked only when the parser has found one.
std::optional<std::size_t> too_large_at(const std::string& text) {
  OutsideStrings bytes(text);
  bool in_number = false;
  while (const auto at = bytes.next()) {
    const bool part = std::string_view("+-.0123456789eE").find(text[*at]) != std::string_view::npos;
    if (part && !in_number && std::isinf(std::strtod(text.c_str() + *at, nullptr))) return at;
    in_number = part;
  }
  return {};
}

Error no_json(Where where, std::optional<std::size_t> byte, std::string_view problem) {
  where.byte = byte;
  return fail(ErrorCode::kBadData, std::move(where), "{}", problem);
}

}  // namespace

json parse_json(std::string_view text, const Where& where) {
  if (const auto at = too_deep_at(text))
    throw no_json(where, at, fmt::format("the JSON is nested deeper than {} levels", kDeepestJson));
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw no_json(where, error.byte, "is not valid JSON");
  } catch (const json::out_of_range&) {
    throw no_json(where, too_large_at(std::string(text)), "the number is too large for a double");
  }
}

json parse_json_or_discard(std::string_view text) {
  if (too_deep_at(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string canonical_json(const std::string& text) {
  if (text.empty()) return "{}";
  const json parsed = parse_json_or_discard(text);
  if (parsed.is_discarded()) {
    throw fail(ErrorCode::kUsage, "the provenance is not JSON: {}", printable(text));
  }
  return json_text(parsed);
}

bool is_utf8(std::string_view text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

void require_utf8(const std::vector<std::string>& tokens, std::string_view advice) {
  for (const std::string& token : tokens) {
    if (is_utf8(token)) continue;
    throw fail(ErrorCode::kBadData, "the token '{}' is not UTF-8, which JSON cannot hold: {}",
               printable(token), advice);
  }
}

}  // namespace hqmm::detail
