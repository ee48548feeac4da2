// Ctrl-C, SIGTERM, and SIGHUP of a terminal that goes away. What was ignored when the program
// began, as nohup does, stays ignored.
#pragma once

#include <functional>
#include <string>

#include "support/internals.hpp"

namespace hqmm::cli {

/// They end the program with code 130: there is nothing to save yet.
void leave_on_interrupts();
/// From here on they ask the work to stop at the next step; a second Ctrl-C kills.
[[nodiscard]] std::function<bool()> catch_interrupts();

/// Whether it was asked to since.
[[nodiscard]] bool was_interrupted() noexcept;
/// Called first in either case, by the signal handler.
void before_interrupts(void (*call)());

/// As leave_on_interrupts(), and the file is removed first; there is one such file at a time.
class RemovedOnInterrupt {
 public:
  explicit RemovedOnInterrupt(const std::string& path);
  ~RemovedOnInterrupt();
  RemovedOnInterrupt(const RemovedOnInterrupt&) = delete;
  RemovedOnInterrupt& operator=(const RemovedOnInterrupt&) = delete;
};

}  // namespace hqmm::cli
