// A score as JSON: what `score --json` and `train --json` print and what a model file keeps.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hqmm/score/score.hpp"

namespace hqmm::detail {

/// Without the sequences' own likelihoods.
[[nodiscard]] nlohmann::ordered_json score_json(const Score& score);

}  // namespace hqmm::detail
