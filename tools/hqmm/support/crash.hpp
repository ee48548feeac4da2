// The last resort: what a crash is answered with.
#pragma once

#include "support/internals.hpp"

namespace hqmm::cli {

/// One line and code 70. (Libraries that crash on damaged files do so in a separate process,
/// hqmm/io/sandbox.hpp.)
void answer_for_crashes();

}  // namespace hqmm::cli
