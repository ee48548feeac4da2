// What was probably meant by a word that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/internals.hpp"

namespace hqmm::cli {

/// ", did you mean 'score'?" when something close enough is known; nothing otherwise.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace hqmm::cli
