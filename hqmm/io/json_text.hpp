// JSON as the text that files and provenance hold: the only place that parses it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/error.hpp"

namespace hqmm::detail {

/// Deeper JSON is refused: nothing of ours comes near, and what walks a value calls itself.
inline constexpr std::size_t kDeepestJson = 100;

/// JSON from outside. Throws kBadData with the byte when it is not JSON, nested deeper than
/// kDeepestJson or holds a number that no double can; `where` is the place of the text.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const Where& where = {});
/// The same, with a discarded value instead of an error.
[[nodiscard]] nlohmann::json parse_json_or_discard(std::string_view text);

/// On one line, keys in byte order, and always UTF-8: invalid bytes become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json);

/// The same for text; an empty text means an empty object. Throws kUsage if it is not JSON.
[[nodiscard]] std::string canonical_json(const std::string& text);

/// Whether JSON can hold the text as it is.
[[nodiscard]] bool is_utf8(std::string_view text);
/// Throws kBadData naming the first token that JSON cannot hold; `advice` says what to do.
void require_utf8(const std::vector<std::string>& tokens, std::string_view advice);

}  // namespace hqmm::detail
