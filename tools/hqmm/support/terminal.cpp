#include "support/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/descriptor.hpp"

namespace hqmm::cli {
namespace {

bool mute = false;

/// All at once, so that lines of several threads stay whole.
void write_to_stderr(std::string_view bytes) {
  if (!mute) (void)write_all(STDERR_FILENO, bytes);
}

// nohup and the like: what our parent wants ignored stays ignored.
bool closed_pipes_were_ignored = false;

void ignore(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void tell(std::string_view text) { write_to_stderr(printable_lines(text)); }

void tell_line(std::string_view beginning, std::string_view message) {
  write_to_stderr(std::string(beginning) + printable(message, message.size()) + "\n");
}

void tell_again(std::string_view line) {
  write_to_stderr("\r\x1b[K" + printable(line, line.size()));
}

void tell_from_handler(const char* text) noexcept {
  constexpr const char* kDigits = "0123456789abcdef";
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    const bool plain = (byte >= 0x20 && byte < 0x7F) || byte == '\n';
    const char escape[] = {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
    (void)!::write(STDERR_FILENO, plain ? text : escape, plain ? 1 : sizeof escape);
  }
}

void prepare_streams() {
  // The lowest free descriptor is taken, so each is the one that is asked about. A folder can
  // neither be read nor written, not even by the name /dev/stdout, as if it were still closed.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (fd == STDERR_FILENO) {
      (void)::open("/dev/null", O_WRONLY);
    } else {
      (void)::open("/", O_PATH | O_DIRECTORY);
    }
  }
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  closed_pipes_were_ignored = before.sa_handler == SIG_IGN;
  ignore(SIGPIPE);
  ignore(SIGXFSZ);
}

void be_mute() {
  mute = true;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

void end_by_closed_pipe() {
  if (closed_pipes_were_ignored) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &action, nullptr);
  sigset_t pipes;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  ::sigprocmask(SIG_UNBLOCK, &pipes, nullptr);
  (void)::raise(SIGPIPE);
}

}  // namespace hqmm::cli
