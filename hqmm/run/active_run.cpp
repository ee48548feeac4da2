#include "hqmm/run/active_run.hpp"

#include <filesystem>
#include <system_error>

namespace hqmm::detail {
namespace {

/// No .lock is made in a folder that is not a run.
const std::string& require_run(const std::string& path) {
  if (!is_run_directory(path)) static_cast<void>(RunDirectory::open(path));  // says so
  return path;
}

}  // namespace

ActiveRun::ActiveRun(const std::string& path, const std::string& config)
    : lock_(path, RunLock::Kind::kNew),
      directory_(RunDirectory::create(path, config)),
      created_(true) {}

ActiveRun::ActiveRun(const std::string& path)
    : lock_(require_run(path), RunLock::Kind::kFound), directory_(RunDirectory::open(path)) {
  directory_.require_own_files();
}

ActiveRun::~ActiveRun() {
  if (!created_ || begun_) return;
  for (const char* name : {"config.json", "history.jsonl", "warm_start.h5"}) remove(name);
}

bool ActiveRun::has(const char* name) const {
  return std::filesystem::exists(directory_.file(name));
}

void ActiveRun::remove(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(directory_.file(name), ignored);
}

}  // namespace hqmm::detail
