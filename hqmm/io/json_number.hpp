// Numbers for JSON, which has neither infinities nor NaN: they become null, as does a missing one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace hqmm::detail {

[[nodiscard]] nlohmann::ordered_json number(double value);
[[nodiscard]] nlohmann::ordered_json number(const std::optional<double>& value);

}  // namespace hqmm::detail
