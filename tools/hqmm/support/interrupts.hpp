// Ctrl-C and SIGTERM.
#pragma once

#include <functional>

namespace hqmm::cli {

/// They end the program with code 130: there is nothing to save yet.
void leave_on_interrupts();
/// From here on they ask the work to stop at the next step; a second one kills.
[[nodiscard]] std::function<bool()> catch_interrupts();

}  // namespace hqmm::cli
