#include "support/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/version.hpp"
#include "support/interrupts.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

struct World {
  int rank = 0, size = 1;
};

std::optional<int> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  int out = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, fault] = std::from_chars(text, end, out);
  if (fault != std::errc() || rest != end) return {};
  return out;
}

/// What starts the job says so: mpirun of Open MPI, srun, mpiexec of others.
World world() {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};
  for (const auto& [rank, size] : kNames) {
    const auto r = number_of(rank), s = number_of(size);
    if (r && s && *r >= 0 && *r < *s) return {*r, *s};
  }
  // srun gives its variables to every step, whether it is of MPI or not
  const auto r = number_of("PMIX_RANK"), s = number_of("SLURM_STEP_NUM_TASKS");
  if (r && s && *r >= 0 && *r < *s) return {*r, *s};
  return {};
}

// ---- who lives, for signal handlers
// ----------------------------------------------------------------

constexpr std::size_t kMostKnown = 4096;
std::array<pid_t, kMostKnown> pids{};  // of ranks on this machine; 0 elsewhere
int own_rank = 0;
volatile std::sig_atomic_t known = 0;
volatile std::sig_atomic_t hushed = 0;
std::array<std::array<char, 32>, 2> digits{};  // of a rank and of the size, made ready
std::array<char, 512> resume_advice{};

bool has_ended(int rank) noexcept {
  const pid_t pid = pids[static_cast<std::size_t>(rank)];
  return pid != 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
}

void write_digits(int value, std::array<char, 32>& out) noexcept {
  *std::to_chars(out.data(), out.data() + out.size() - 1, value).ptr = '\0';
}

void tell_of_lost_rank(int rank) noexcept {
  write_digits(rank, digits[0]);
  write_digits(known, digits[1]);
  for (const char* text : {"hqmm: error: rank ", static_cast<const char*>(digits[0].data()), " of ",
                           static_cast<const char*>(digits[1].data()), " has ended",
                           static_cast<const char*>(resume_advice.data()), "\n"})
    tell_from_handler(text);
}

/// Rank 0 has said why it ends: nobody else needs to speak. SIGURG does nothing where it is not
/// expected.
void hush_others() noexcept {
  for (int rank = 1; rank < known; ++rank)
    if (pids[static_cast<std::size_t>(rank)] != 0)
      ::kill(pids[static_cast<std::size_t>(rank)], SIGURG);
}

void be_hushed() {
  struct sigaction action {};
  action.sa_handler = [](int) { hushed = 1; };
  ::sigaction(SIGURG, &action, nullptr);
}

/// mpirun ends all ranks when one has ended, a second later by force. The first rank that still
/// lives says what happened. Nothing is lost: what is written appears whole or not at all.
void on_signal() {
  if (known == 0 || hushed != 0) return;
  int first = 0;
  while (first < own_rank && has_ended(first)) ++first;
  if (own_rank > 0) {
    if (!has_ended(0)) {  // rank 0 decides, and mpirun sees to the rest
      for (int seconds = 0; seconds < 30 && !has_ended(0); ++seconds) ::sleep(1);
      ::_exit(exit_status(ErrorCode::kInterrupted));
    }
    if (first == own_rank) tell_of_lost_rank(0);
    ::sleep(2);  // others must not take this one for the first that ended
    ::_exit(exit_status(ErrorCode::kInterrupted));
  }
  for (int rank = 1; rank < known; ++rank) {
    if (!has_ended(rank)) continue;
    hush_others();
    tell_of_lost_rank(rank);
    ::_exit(exit_status(ErrorCode::kInterrupted));
  }
}

// ---- the module
// -------------------------------------------------------------------------------------

struct Module {
  RankLink* (*open)() = nullptr;
  void (*close)() = nullptr;
};

/// Beside the executable in a build tree, in the folder of libraries where it is installed.
std::optional<Module> load_module() {
  std::error_code failure;
  const fs::path here = fs::read_symlink("/proc/self/exe", failure).parent_path();
  if (failure) return {};
  for (const char* folder : {".", HQMM_BIN_TO_LIB "/hqmm"}) {
    const fs::path path = here / folder / "hqmm_mpi.so";
    if (!fs::exists(path, failure)) continue;
    void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr) continue;
    const auto* version = static_cast<const char* const*>(::dlsym(module, "hqmm_mpi_version"));
    if (version == nullptr || std::strcmp(*version, HQMM_VERSION) != 0) continue;
    Module out;
    out.open = reinterpret_cast<RankLink* (*)()>(::dlsym(module, "hqmm_mpi_open"));
    out.close = reinterpret_cast<void (*)()>(::dlsym(module, "hqmm_mpi_close"));
    if (out.open != nullptr && out.close != nullptr) return out;
  }
  return {};
}

// ---- the job
// ----------------------------------------------------------------------------------------

struct Hello {
  pid_t pid = 0;
  std::array<char, 256> host{};
  std::array<char, 32> simd{};
};

Hello own_hello() {
  Hello out;
  out.pid = ::getpid();
  (void)::gethostname(out.host.data(), out.host.size() - 1);
  const std::string target = simd_target();
  target.copy(out.simd.data(), out.simd.size() - 1);
  return out;
}

/// Everybody learns who is there. Results are the same bytes on the same instructions only.
void introduce(Ranks& all) {
  // before rank 0 knows of this one, and may fail
  if (!all.leads()) be_hushed();
  std::vector<Hello> found{own_hello()};
  if (all.leads()) {
    for (int rank = 1; rank < all.size(); ++rank) {
      const std::string bytes = all.receive(rank);
      found.push_back(Unpacker(bytes).number<Hello>());
    }
    const std::string table = Packer().numbers(std::span<const Hello>(found)).take();
    for (int rank = 1; rank < all.size(); ++rank) all.send(rank, table);
  } else {
    all.send(0, Packer().number(found.front()).take());
    const std::string table = all.receive(0);
    found = Unpacker(table).numbers<Hello>();
  }
  const Hello& own = found[static_cast<std::size_t>(all.rank())];
  for (std::size_t rank = 0; rank < std::min(found.size(), kMostKnown); ++rank)
    if (found[rank].host == own.host) pids[rank] = found[rank].pid;
  own_rank = all.rank();
  known = std::min(all.size(), static_cast<int>(kMostKnown));
  before_interrupts(on_signal);
  for (std::size_t rank = 1; rank < found.size(); ++rank) {
    if (found[rank].simd == found.front().simd) continue;
    throw fail(ErrorCode::kUsage,
               "rank {} on {} computes with {}, rank 0 with {}, so their bytes differ: limit all "
               "ranks to the same with HQMM_SIMD",
               rank, found[rank].host.data(), found[rank].simd.data(), found.front().simd.data());
  }
}

struct Job {
  Module module;
  std::optional<Ranks> ranks;
};
std::optional<Job> job;

}  // namespace

bool is_other_rank() { return world().rank > 0; }

bool is_shared_command(int argc, char** argv) {
  if (argc < 2) return false;
  const std::string_view command = argv[1];
  if (command == "classify") return argc > 2 && std::string_view(argv[2]) == "cross-validate";
  return command == "score" || command == "train" || command == "select" || command == "reproduce";
}

Ranks* ranks() {
  if (job) return &*job->ranks;
  const World here = world();
  if (here.size < 2) return nullptr;
  const std::optional<Module> module = load_module();
  if (!module) {
    throw fail(
        ErrorCode::kUsage,
        "this hqmm was built without Open MPI and cannot share work among {} ranks: start it "
        "without mpirun",
        here.size);
  }
  leave_on_interrupts();
  RankLink* const link = module->open();
  if (link->size() != here.size) {
    throw fail(ErrorCode::kUsage,
               "{} ranks were started, but Open MPI knows of {}: does mpirun belong to Open MPI?",
               here.size, link->size());
  }
  job.emplace(Job{*module, {}});
  job->ranks.emplace(*link, [] {
    if (was_interrupted()) throw fail(ErrorCode::kInterrupted, "interrupted");
  });
  introduce(*job->ranks);
  return &*job->ranks;
}

bool works_with_others() { return job.has_value(); }

void on_lost_rank(const std::string& text) {
  const std::string shown = "; " + printable(text, resume_advice.size() - 8);
  std::memcpy(resume_advice.data(), shown.c_str(),
              std::min(shown.size() + 1, resume_advice.size()));
}

void leave_ranks() {
  if (!job) return;
  if (job->ranks->leads()) job->ranks->dismiss();
  known = 0;
  job->module.close();
}

void leave_ranks_with_failure() {
  if (job && job->ranks->leads()) hush_others();
}

void fail_on_other_rank(const std::exception_ptr& failure) {
  try {
    if (Ranks* all = ranks()) all->help_with_failure(failure);
  } catch (...) {
    ::sleep(10);  // rank 0 has the same failure, and speaks first
  }
}

}  // namespace hqmm::cli
