// How a training ended, in words. Files and --json have the names of TrainStatus.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "support/internals.hpp"

namespace hqmm::cli {

/// "ran all 60 epochs", "converged after 41 epochs".
[[nodiscard]] std::string training_end(std::string_view status, std::size_t epochs);
/// The same with the time it took: "ran all 60 epochs in 12.3 seconds".
[[nodiscard]] std::string training_end(std::string_view status, std::size_t epochs, double seconds);

}  // namespace hqmm::cli
