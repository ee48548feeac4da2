// A trained model of a grid on its way to rank 0 (core/ranks.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/run/selection.hpp"

namespace hqmm::detail {

[[nodiscard]] std::string pack_trained(const Candidate& candidate,
                                       std::span<const EpochRecord> history);
/// Into the candidate; returns the history.
std::vector<EpochRecord> unpack_trained(std::string_view bytes, Candidate& candidate);

}  // namespace hqmm::detail
