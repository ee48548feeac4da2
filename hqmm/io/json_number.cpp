#include "hqmm/io/json_number.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace hqmm::detail {

nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace hqmm::detail
