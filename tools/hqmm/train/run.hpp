// The run directory of a training under way: one process at a time, and nothing left behind by a
// run that could not begin.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "hqmm/run/run_directory.hpp"
#include "support/command.hpp"

namespace hqmm::cli {

class Run {
 public:
  /// `found` to go on with; else a new one at `path` with this configuration; none when the path is
  /// empty. Throws kUsage when another process trains in it.
  Run(std::optional<RunDirectory> found, const std::string& path, const Json& config);
  /// A new run that never began leaves its place free for the corrected command.
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  explicit operator bool() const { return directory_.has_value(); }
  RunDirectory* operator->() { return &*directory_; }
  void mark_begun() { begun_ = true; }
  [[nodiscard]] bool has(const char* name) const;
  void remove(const std::string& name) const;

 private:
  void lock();

  std::optional<RunDirectory> directory_;
  int lock_ = -1;  // an open config.json; the kernel lets go of it however the process ends
  bool created_ = false;
  bool begun_ = false;
};

}  // namespace hqmm::cli
