// ScratchFile: memory that is a file without a name, for data that the memory budget has no room
// for. It is in the folder that TMPDIR names, or in /var/tmp, and gone when the process is.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "hqmm/core/error.hpp"
#include "hqmm/core/memory_budget.hpp"

namespace hqmm::detail {

class ScratchFile {
 public:
  /// Throws kCannotWrite when there is no room or no folder for it, and kUsage for a folder that is
  /// itself in memory.
  explicit ScratchFile(std::shared_ptr<MemoryBudget> budget);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// At least so large. What is in it stays, but not where: data() changes. Throws kCannotWrite when
  /// the disk is full: what could be reserved can be written.
  void grow(std::size_t bytes);
  [[nodiscard]] void* data() const noexcept { return data_; }
  /// Copies a part without making its pages the process's own, which would bring their neighbours
  /// in as well: for small parts here and there. Throws kNoInput when the disk fails.
  void read(std::size_t begin, void* to, std::size_t count) const;
  /// Somebody has looked at so many bytes more: lets go when these are a sixteenth of the budget.
  void looked_at(std::size_t bytes) noexcept;
  /// Its pages are not the process's own until they are looked at again. Any thread, at any time.
  void let_go() noexcept;

 private:
  [[nodiscard]] Error cannot_write(int reason) const;
  void open_in_folder();

  std::shared_ptr<MemoryBudget> budget_;
  std::string folder_;
  int fd_ = -1;
  std::atomic<std::size_t> looked_at_ = 0;  // bytes since pages were let go
  std::mutex guard_;                        // of where the file is mapped
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hqmm::detail
