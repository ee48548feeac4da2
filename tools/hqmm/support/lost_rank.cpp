#include "support/lost_rank.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hqmm/core/fail.hpp"
#include "support/interrupts.hpp"
#include "support/ranks.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {
namespace {

// What signal handlers look at.
constexpr std::size_t kMostKnown = 4096;
std::array<pid_t, kMostKnown> pids{};  // of ranks on this machine; 0 elsewhere
int own_rank = 0;
bool may_speak_alone = false;
volatile std::sig_atomic_t known = 0;
volatile std::sig_atomic_t hushed = 0;
std::array<std::array<char, 32>, 2> digits{};  // of a rank and of the size, made ready
std::array<char, 512> resume_advice{};
std::array<char, PATH_MAX> voice{};  // a file; empty without mpirun of Open MPI

bool has_ended(int rank) noexcept {
  const pid_t pid = pids[static_cast<std::size_t>(rank)];
  return pid != 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// Ranks that are ended at once must not all speak: who makes this file may. It is in mpirun's own
/// folder for the job, which goes with mpirun.
bool take_voice() noexcept {
  if (voice.front() == '\0') return own_rank == 0 || known != 0;
  return ::open(voice.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0 ||
         errno != EEXIST;
}

/// At once: mpirun finds an end for itself more surely when it has not to kill anybody. Without a
/// file for the voice, late enough that no other rank takes this one for the first that ended.
[[noreturn]] void leave() noexcept {
  if (voice.front() == '\0') ::sleep(2);
  ::_exit(exit_status(ErrorCode::kInterrupted));
}

void write_digits(int value, std::array<char, 32>& out) noexcept {
  *std::to_chars(out.data(), out.data() + out.size() - 1, value).ptr = '\0';
}

void tell_of_lost_rank(int rank) noexcept {
  if (!take_voice()) return;
  write_digits(rank, digits[0]);
  write_digits(known, digits[1]);
  for (const char* text : {"hqmm: error: rank ", static_cast<const char*>(digits[0].data()), " of ",
                           static_cast<const char*>(digits[1].data()), " has ended",
                           static_cast<const char*>(resume_advice.data()), "\n"})
    tell_from_handler(text);
}

/// Who has ended is not known, nor whether anybody has.
void tell_of_early_end() noexcept {
  if (!may_speak_alone || !take_voice()) return;  // the program is left all the same
  tell_from_handler("hqmm: error: a rank has ended, or the job was ended from outside");
  tell_from_handler(resume_advice.data());
  tell_from_handler("\n");
  leave();
}

/// The first rank that still lives says what happened. Nothing is lost: what is written appears
/// whole or not at all.
void on_signal() {
  if (hushed != 0) return;
  if (known == 0) return tell_of_early_end();
  int first = 0;
  while (first < own_rank && has_ended(first)) ++first;
  if (own_rank > 0) {
    if (!has_ended(0)) {  // rank 0 decides, and mpirun sees to the rest
      for (int turn = 0; turn < 3000 && !has_ended(0); ++turn) ::usleep(10'000);
      ::_exit(exit_status(ErrorCode::kInterrupted));
    }
    if (first == own_rank) tell_of_lost_rank(0);
    leave();
  }
  for (int rank = 1; rank < known; ++rank) {
    if (!has_ended(rank)) continue;
    tell_of_lost_rank(rank);
    hush_others();
    ::_exit(exit_status(ErrorCode::kInterrupted));
  }
}

}  // namespace

void watch_job(const World& here) {
  own_rank = here.rank;
  may_speak_alone = here.with_first;
  if (const char* folder = std::getenv("PMIX_SERVER_TMPDIR")) {
    const std::string path = std::string(folder) + "/hqmm-has-spoken";
    if (path.size() < voice.size()) path.copy(voice.data(), path.size());
  }
  before_interrupts(on_signal);
  leave_on_interrupts();
}

void watch_ranks(int own, std::span<const pid_t> processes) {
  own_rank = own;
  const std::size_t count = std::min(processes.size(), kMostKnown);
  std::copy_n(processes.begin(), count, pids.begin());
  known = static_cast<int>(count);
}

void forget_ranks() { known = 0; }

/// SIGURG does nothing where it is not expected.
void hush_others() {
  (void)take_voice();
  for (int rank = 1; rank < known; ++rank)
    if (pids[static_cast<std::size_t>(rank)] != 0)
      ::kill(pids[static_cast<std::size_t>(rank)], SIGURG);
}

void be_hushed() {
  struct sigaction action {};
  action.sa_handler = [](int) { hushed = 1; };
  ::sigaction(SIGURG, &action, nullptr);
}

void on_lost_rank(const std::string& text) {
  const std::string shown = "; " + printable(text, resume_advice.size() - 8);
  std::memcpy(resume_advice.data(), shown.c_str(),
              std::min(shown.size() + 1, resume_advice.size()));
}

}  // namespace hqmm::cli
