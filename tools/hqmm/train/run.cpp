#include "train/run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "hqmm/core/error.hpp"
#include "hqmm/run/run_directory.hpp"

namespace hqmm::cli {

Run::Run(std::optional<RunDirectory> found, const std::string& path, const Json& config) {
  created_ = !found && !path.empty();
  if (created_) found = RunDirectory::create(path, config.dump());
  if (!found) return;
  directory_ = std::move(found);
  lock();
  for (const auto& entry : std::filesystem::directory_iterator(directory_->file(""))) {
    const std::string name = entry.path().filename().string();
    const bool half_written = name.starts_with(".hqmm-") && name.ends_with(".tmp");
    if (half_written || name == "summary.json") remove(name);
  }
}

void Run::lock() {
  const std::string name = directory_->file("config.json");
  lock_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw fail(ErrorCode::kUsage, {name, {}, {}, {}, {}}, "another hqmm is training in this run");
  }
}

Run::~Run() {
  if (lock_ >= 0) ::close(lock_);
  if (!created_ || begun_) return;
  for (const char* name : {"config.json", "history.jsonl", "warm_start.h5"}) remove(name);
  std::error_code ignored;
  std::filesystem::remove(directory_->file(""), ignored);  // only when empty
}

bool Run::has(const char* name) const {
  return directory_ && std::filesystem::exists(directory_->file(name));
}

void Run::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(directory_->file(name), ignored);
}

}  // namespace hqmm::cli
