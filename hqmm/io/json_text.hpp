// JSON as the text that files and provenance hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hqmm {

/// On one line, keys in byte order, and always UTF-8: what is not becomes U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::json& json);

/// The same for text; nothing stands for an empty object. Throws kUsage when it is not JSON.
[[nodiscard]] std::string canonical_json(const std::string& text);

}  // namespace hqmm
