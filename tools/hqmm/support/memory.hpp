// What --memory promises: said before the work when it cannot be kept, and after it when it was not.
#pragma once

#include <cstddef>

namespace hqmm::cli {

/// Once the data are read. Throws kUsage when what is left beside their symbols does not fit; 0: no
/// limit.
void require_within(std::size_t memory);

/// At the end: a warning when the process has taken more.
void warn_if_beyond(std::size_t memory);

}  // namespace hqmm::cli
