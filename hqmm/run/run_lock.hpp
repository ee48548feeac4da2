// One process at a time in a run directory: a lock on the file .lock in it, taken before anything
// there is read or written. The kernel lets go of it however the process ends.
#pragma once

#include <string>

#include "hqmm/io/descriptor.hpp"

namespace hqmm::detail {

class RunLock {
 public:
  /// kNew makes the folder where there is none.
  enum class Kind { kNew, kFound };
  /// Throws kUsage when another process has the lock, kCannotWrite when the file cannot be made.
  /// On a file system without locks there is nothing to protect the run.
  RunLock(std::string path, Kind kind);
  /// Takes the file away, and the folder that it made when that is empty.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  /// False: the file was taken away before it was locked.
  [[nodiscard]] bool try_lock() const;

  std::string folder_;
  std::string file_;
  Descriptor lock_;
  bool made_folder_ = false;
};

/// Whether a process trains in this run directory now. Takes nothing and changes nothing.
[[nodiscard]] bool is_training(const std::string& path);

}  // namespace hqmm::detail
