#include "hqmm/run/active_run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hqmm/core/error.hpp"

namespace hqmm {

ActiveRun::ActiveRun(const std::string& path, const std::string& config)
    : ActiveRun(RunDirectory::create(path, config)) {
  created_ = true;
}

ActiveRun::ActiveRun(RunDirectory found) : directory_(std::move(found)) {
  lock();
  remove_leftovers();
}

void ActiveRun::lock() {
  const std::string name = directory_.file("config.json");
  lock_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw fail(ErrorCode::kUsage, {name, {}, {}, {}, {}}, "another hqmm is training in this run");
  }
}

/// Half-written files of a run that was killed, and the summary of one that ended.
void ActiveRun::remove_leftovers() const {
  for (const auto& entry : std::filesystem::directory_iterator(directory_.file(""))) {
    const std::string name = entry.path().filename().string();
    const bool half_written = name.starts_with(".hqmm-") && name.ends_with(".tmp");
    if (half_written || name == "summary.json") remove(name);
  }
}

ActiveRun::~ActiveRun() {
  if (lock_ >= 0) ::close(lock_);
  if (!created_ || begun_) return;
  for (const char* name : {"config.json", "history.jsonl", "warm_start.h5"}) remove(name);
  std::error_code ignored;
  std::filesystem::remove(directory_.file(""), ignored);  // only when empty
}

bool ActiveRun::has(const char* name) const {
  return std::filesystem::exists(directory_.file(name));
}

void ActiveRun::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(directory_.file(name), ignored);
}

}  // namespace hqmm
