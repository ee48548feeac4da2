// The parts of `hqmm inspect` that look at something else than a model.
#pragma once

#include <string>

#include "support/command.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

/// What a training run is, how far it got and what it measured of the paper's bound.
/// False for a run of 'hqmm train'.
bool inspect_cells(const std::string& path, const CommonOptions& common);
void inspect_run(const std::string& path, const CommonOptions& common);

}  // namespace hqmm::cli
