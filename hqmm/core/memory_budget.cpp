#include "hqmm/core/memory_budget.hpp"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string>

#include "hqmm/core/scratch_file.hpp"
#include "hqmm/core/signals_blocked.hpp"

namespace hqmm::detail {
namespace {

/// A core brings in some ten megabytes of pages meanwhile.
constexpr auto kPause = std::chrono::milliseconds(1);

}  // namespace

ResidentMemory resident_memory() {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ifstream in("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t resident = 0;
  std::size_t of_files = 0;
  in >> whole >> resident >> of_files;
  return {resident * page, of_files * page};
}

std::size_t peak_memory() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

MemoryBudget::MemoryBudget(std::size_t bytes)
    : bytes_(bytes), pages_before_(resident_memory().of_files) {}

MemoryBudget::~MemoryBudget() {
  {
    const std::lock_guard lock(guard_);
    assert(files_.empty());
    ending_ = true;
  }
  news_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

bool MemoryBudget::take(std::size_t bytes) noexcept {
  const std::size_t most = bytes_ / 4;
  std::size_t taken = taken_.load();
  do {
    if (bytes > most || taken > most - bytes) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return true;
}

void MemoryBudget::add(ScratchFile& file) {
  {
    const std::lock_guard lock(guard_);
    files_.push_back(&file);
    if (!watcher_.joinable()) {
      const SignalsBlocked none;
      watcher_ = std::thread([this] { watch(); });
    }
  }
  news_.notify_all();
}

void MemoryBudget::remove(ScratchFile& file) {
  const std::lock_guard lock(guard_);
  std::erase(files_, &file);
}

/// From half of the budget on pages are let go, but not for a few of them: what else there
/// is may already be that much.
void MemoryBudget::watch() {
  std::unique_lock lock(guard_);
  while (!ending_) {
    if (files_.empty()) {
      news_.wait(lock, [this] { return ending_ || !files_.empty(); });
      continue;
    }
    const ResidentMemory now = resident_memory();
    if (now.all > bytes_ / 2 && now.of_files > pages_before_ + bytes_ / 16)
      for (ScratchFile* file : files_) file->let_go();
    news_.wait_for(lock, kPause, [this] { return ending_; });
  }
}

}  // namespace hqmm::detail
