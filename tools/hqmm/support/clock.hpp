// Time: what was spent, and how it is written.
#pragma once

#include <string>

#include "support/internals.hpp"

namespace hqmm::cli {

/// Processor time of the calling thread: of one model that it trains alone, other work on the
/// machine adds nothing to it.
[[nodiscard]] double thread_seconds();

/// "1:05", "2:00:00"
[[nodiscard]] std::string duration(double seconds);

}  // namespace hqmm::cli
