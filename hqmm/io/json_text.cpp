#include "hqmm/io/json_text.hpp"

#include <nlohmann/json.hpp>

#include "hqmm/core/error.hpp"

namespace hqmm {

std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string canonical_json(const std::string& text) {
  if (text.empty()) return "{}";
  const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) {
    throw fail(ErrorCode::kUsage, "the provenance is not JSON: {}", printable(text));
  }
  return json_text(parsed);
}

}  // namespace hqmm
