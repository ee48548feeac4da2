#include "support/interrupts.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"

namespace hqmm::cli {
namespace {

// Set by a signal handler, asked by the threads that work.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

std::atomic<void (*)()> called_first = nullptr;

void call_first() {
  if (void (*call)() = called_first.load(); call != nullptr) call();
}

// The file to remove on an interrupt. Written only while `has_unfinished` is false.
std::array<char, PATH_MAX> unfinished{};
std::atomic<bool> has_unfinished = false;

void on_interrupt(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup, and shells that start something in the background, want it to go on.
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = handler;
    // A terminal that goes away says so several times: the kernel does, and the shell.
    action.sa_flags = signal == SIGHUP ? 0 : static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void leave_on_interrupts() {
  on_interrupt([](int) {
    call_first();
    if (has_unfinished) ::unlink(unfinished.data());
    ::_exit(exit_status(ErrorCode::kInterrupted));
  });
}

std::function<bool()> catch_interrupts() {
  on_interrupt([](int) {
    call_first();
    interrupted = true;
  });
  return [] { return interrupted.load(); };
}

bool was_interrupted() noexcept { return interrupted; }

void before_interrupts(void (*call)()) { called_first = call; }

RemovedOnInterrupt::RemovedOnInterrupt(const std::string& path) {
  if (path.empty() || path.size() >= unfinished.size() || has_unfinished) return;
  std::memcpy(unfinished.data(), path.c_str(), path.size() + 1);
  has_unfinished = true;
  leave_on_interrupts();
}

RemovedOnInterrupt::~RemovedOnInterrupt() { has_unfinished = false; }

}  // namespace hqmm::cli
