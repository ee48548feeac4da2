// Numbers for JSON, which has neither infinities nor NaN: null stands for them, and for none.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace hqmm {

[[nodiscard]] inline nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}
[[nodiscard]] inline nlohmann::ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace hqmm
