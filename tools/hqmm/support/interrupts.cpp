#include "support/interrupts.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "hqmm/core/error.hpp"

namespace hqmm::cli {
namespace {

// Set by a signal handler, asked by the threads that work.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void leave_on_interrupts() {
  on_interrupt([](int) { ::_exit(exit_status(ErrorCode::kInterrupted)); });
}

std::function<bool()> catch_interrupts() {
  on_interrupt([](int) { interrupted = true; });
  return [] { return interrupted.load(); };
}

}  // namespace hqmm::cli
