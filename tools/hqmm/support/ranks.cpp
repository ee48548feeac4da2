#include "support/ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hqmm/core/fail.hpp"
#include "hqmm/core/packing.hpp"
#include "hqmm/core/simd.hpp"
#include "hqmm/version.hpp"
#include "support/interrupts.hpp"
#include "support/lost_rank.hpp"
#include "support/rank_world.hpp"

namespace hqmm::cli {
namespace {

namespace fs = std::filesystem;

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
  std::vector<pid_t> here;
  here.reserve(found.size());
  for (const Hello& one : found) here.push_back(one.host == own.host ? one.pid : 0);
  watch_ranks(all.rank(), here);
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

void begin_as_rank() {
  if (world().size > 1) watch_job(world());
}

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

void leave_ranks() {
  if (!job) return;
  if (job->ranks->leads()) job->ranks->dismiss();
  forget_ranks();
  job->module.close();
}

void leave_ranks_with_failure() {
  if (!is_other_rank()) hush_others();
}

void fail_on_other_rank(const std::exception_ptr& failure) {
  try {
    if (Ranks* all = ranks()) all->help_with_failure(failure);
  } catch (...) {
    ::sleep(10);  // rank 0 has the same failure, and speaks first
  }
}

}  // namespace hqmm::cli
