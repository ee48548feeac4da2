#include "hqmm/io/sandbox.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/signals_blocked.hpp"
#include "hqmm/io/descriptor.hpp"
#include "hqmm/io/hdf5_image.hpp"
#include "hqmm/io/sandbox_limits.hpp"

namespace hqmm::detail {
namespace {

// What a reply begins and ends with.
constexpr std::uint8_t kResult = 1, kError = 2, kEnd = 3;

// ---- in the child
// ----------------------------------------------------------------------------------

/// Crashes end the child; what ends the parent, or asks it to stop, is the parent's business.
void settle_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
    ::sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void send(int reply, std::string_view bytes) {
  if (write_all(reply, bytes) != 0) ::_exit(1);  // nobody listens
}

void put_error(WireWriter& out, const Error& error) {
  out.number(kError);
  out.number(static_cast<std::int32_t>(error.code()));
  out.number(error.situation());
  out.text(error.marked());
  const Where& where = error.where();
  out.text(where.file);
  for (const auto& place : {where.line, where.column, where.byte}) {
    out.number(std::uint8_t{place.has_value()});
    out.number(place.value_or(0));
  }
  out.text(where.item);
}

/// Small pieces travel together.
class Mail {
 public:
  explicit Mail(int reply) : reply_(reply) {}
  void add(std::string_view bytes) {
    begun_ = true;
    if (pending_.size() + bytes.size() > kTogether) flush();
    if (bytes.size() > kTogether) return send(reply_, bytes);
    pending_ += bytes;
  }
  void flush() {
    send(reply_, pending_);
    pending_.clear();
  }
  [[nodiscard]] bool begun() const { return begun_; }

 private:
  static constexpr std::size_t kTogether = 64 * 1024;
  int reply_;
  bool begun_ = false;
  std::string pending_;
};

/// The library's mutex is locked here for ever: there is one thread, and it reads without it.
[[noreturn]] void be_the_child(const SandboxJob& job, const SandboxLimits& limits,
                               std::size_t mapped, int reply) {
  settle_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Mail mail(reply);
  WireWriter out([&](std::string_view bytes) {
    if (!mail.begun()) mail.add({reinterpret_cast<const char*>(&kResult), 1});
    mail.add(bytes);
  });
  WireWriter errors([&](std::string_view bytes) { mail.add(bytes); });
  try {
    close_all_but(reply, job.data);
    if (job.open) job.open();
    limit_resources(limits, mapped);
    forbid_system_calls(reply);
    job.read(out);
    out.number(kEnd);
  } catch (const Error& error) {
    if (mail.begun()) ::_exit(1);
    put_error(errors, error);
  } catch (const std::bad_alloc&) {
    if (mail.begun()) ::_exit(1);
    put_error(errors,
              fail(ErrorCode::kBadData, Where{.file = job.file},
                   "reading takes more memory than the file's size explains: it is damaged"));
  } catch (...) {
    ::_exit(1);
  }
  mail.flush();
  ::_exit(0);
}

// ---- in the parent
// ---------------------------------------------------------------------------------

/// The child is never left behind: what still runs is ended.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// How it ended. 0 when somebody else has asked before, as a program that ignores SIGCHLD does.
  int wait() {
    const pid_t pid = std::exchange(pid_, -1);
    int status = 0;
    while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  pid_t pid_;
};

Error no_sandbox(const std::string& file, int reason) {
  return fail(ErrorCode::kInternal, Where{.file = file},
              "no process could be started to read it: {}", std::strerror(reason));
}

Error take_error(WireReader& in) {
  const auto code = in.number<std::int32_t>();
  const auto situation = in.number<Situation>();
  std::string marked = in.text();
  Where where{.file = in.text()};
  for (auto* place : {&where.line, &where.column, &where.byte}) {
    const bool known = in.flag();
    const auto value = in.number<std::uint64_t>();
    if (known) *place = value;
  }
  where.item = in.text();
  constexpr std::array kCodes{ErrorCode::kUsage, ErrorCode::kBadData, ErrorCode::kNoInput,
                              ErrorCode::kInternal};
  const auto known = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](ErrorCode one) { return exit_status(one) == code; });
  if (known == kCodes.end() || situation > Situation::kRunExists) throw WireFault();
  return Error(*known, std::move(marked), std::move(where)).in(situation);
}

void take_reply(WireReader& in, const std::function<void(WireReader&)>& take) {
  const auto kind = in.number<std::uint8_t>();
  if (kind == kError) throw take_error(in);
  if (kind != kResult) throw WireFault();
  take(in);
  if (in.number<std::uint8_t>() != kEnd) throw WireFault();
}

Error why_it_ended(const std::string& file, int status) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return fail(ErrorCode::kBadData, Where{.file = file}, "{}",
              signal == SIGXCPU
                  ? "reading takes longer than the file's size explains: it is damaged"
                  : "the file is damaged: it cannot be read");
}

}  // namespace

void run_in_sandbox(const SandboxJob& job, const std::function<void(WireReader&)>& take) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw no_sandbox(job.file, errno);
  const Descriptor from_child(ends[0]);
  Descriptor to_parent(ends[1]);
  const SandboxLimits limits = SandboxLimits::of(job.size, job.max_ratio);
  const std::size_t mapped = mapped_bytes();
  pid_t pid = -1;
  {
    const auto nobody_else = lock_hdf5();  // the child gets the library between two calls
    const SignalsBlocked blocked;          // no handler of the parent may run in the child
    pid = ::fork();
    if (pid == 0) be_the_child(job, limits, mapped, to_parent.get());
    if (pid < 0) throw no_sandbox(job.file, errno);
  }
  Child child(pid);
  to_parent.close();
  WireReader in(
      [&](char* to, std::size_t size) -> std::size_t {
        ssize_t got = -1;
        do {
          got = ::read(from_child.get(), to, size);
        } while (got < 0 && errno == EINTR);
        return got < 0 ? 0 : static_cast<std::size_t>(got);
      },
      limits.memory);
  try {
    take_reply(in, take);
  } catch (const WireFault&) {
    throw why_it_ended(job.file, child.wait());
  }
  child.wait();
}

}  // namespace hqmm::detail
