// A crash is answered with one line and an exit code, never with a core dump.
#include "support/crash.hpp"

#include <unistd.h>

#include <csignal>

#include "hqmm/core/error.hpp"
#include "hqmm/core/fail.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // the sanitizers report crashes better
#else
constexpr bool kSanitized = false;
#endif

void answer(int /*signal*/) {
  tell_from_handler("hqmm: error: internal error: hqmm crashed; please report this\n");
  ::_exit(exit_status(ErrorCode::kInternal));
}

}  // namespace

void answer_for_crashes() {
  if (kSanitized) return;
  static char stack[64 * 1024];  // a stack overflow leaves none to run on
  const stack_t alternative{stack, 0, sizeof stack};
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = answer;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace hqmm::cli
