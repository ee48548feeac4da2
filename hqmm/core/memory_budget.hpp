// MemoryBudget: how much memory a process may take, for data that can lie in a file instead
// (scratch_file.hpp).
//
// A part of the budget may be ordinary memory; data beyond that are mapped from scratch files. Pages
// of a mapped file that were looked at belong to the process until they are let go, which loses
// nothing: they are in the kernel's cache as long as there is room, and on the disk. Code that walks
// along a file says so, and every so many bytes its pages are let go. For the rest a thread looks at
// the memory of the process again and again, and does the same.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace hqmm::detail {

class ScratchFile;

/// Of what this process has now, in bytes.
struct ResidentMemory {
  std::size_t all = 0;
  std::size_t of_files = 0;  // pages of mapped files, the program's own among them
};
[[nodiscard]] ResidentMemory resident_memory();
/// The most that `all` has been.
[[nodiscard]] std::size_t peak_memory();

/// Any number of threads may use one at a time.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t bytes);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Takes so many bytes of the part that may be ordinary memory. False when there are not as many
  /// left.
  [[nodiscard]] bool take(std::size_t bytes) noexcept;
  void give_back(std::size_t bytes) noexcept { taken_ -= bytes; }

  /// Files whose pages are let go; a file is removed before it ends.
  void add(ScratchFile& file);
  void remove(ScratchFile& file);

 private:
  void watch();

  std::size_t bytes_;
  std::size_t pages_before_;  // of files, before there were any of ours
  std::atomic<std::size_t> taken_ = 0;
  std::mutex guard_;
  std::condition_variable news_;
  std::vector<ScratchFile*> files_;
  bool ending_ = false;
  std::thread watcher_;
};

}  // namespace hqmm::detail
