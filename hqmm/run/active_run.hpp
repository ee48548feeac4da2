// The run directory of a training under way: one process at a time, and nothing left over from a
// run that could not begin.
#pragma once

#include <string>

#include "hqmm/run/run_directory.hpp"
#include "hqmm/run/run_lock.hpp"

namespace hqmm::detail {

class ActiveRun {
 public:
  /// A new run with this JSON as its configuration. Throws like RunDirectory::create.
  ActiveRun(const std::string& path, const std::string& config);
  /// One to resume. Throws like RunDirectory::open. Both throw kUsage when another process
  /// trains in it; nothing in the folder is changed then.
  explicit ActiveRun(const std::string& path);
  /// A new run that never began leaves its place free for the corrected command.
  ~ActiveRun();
  ActiveRun(const ActiveRun&) = delete;
  ActiveRun& operator=(const ActiveRun&) = delete;

  RunDirectory* operator->() { return &directory_; }
  [[nodiscard]] const RunDirectory& directory() const noexcept { return directory_; }
  void mark_begun() { begun_ = true; }
  [[nodiscard]] bool has(const char* name) const;
  void remove(const std::string& name) const;

 private:
  RunLock lock_;  // before the directory is looked at, until all is done
  RunDirectory directory_;
  bool created_ = false;
  bool begun_ = false;
};

}  // namespace hqmm::detail
