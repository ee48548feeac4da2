// What commands say about a model in one line.
#pragma once

#include <string>

#include "hqmm/model/any_model.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// Says, once, what it means that a model is not trace preserving.
void warn_if_infeasible(const AnyModel& model, const std::string& path);

/// "HQMM, n = 2, s = 6, w = 1", "real HQMM emitting on its states, n = 2, s = 6, w = 1"
[[nodiscard]] std::string describe(const AnyModel& model);

}  // namespace hqmm::cli
