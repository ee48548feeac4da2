// HDF5 and matio can crash or loop for ever on damaged files, whatever is checked beforehand. While
// they read one, its name is kept here, so that a program can say which file it was instead of
// dumping core or hanging.
#pragma once

#include <cstddef>
#include <string>

namespace hqmm {

/// Names the file while it lives. `file` must outlive it; `size` is how many bytes are read.
class ForeignCode {
 public:
  ForeignCode(const std::string& file, std::size_t size) noexcept;
  ~ForeignCode();
  ForeignCode(const ForeignCode&) = delete;
  ForeignCode& operator=(const ForeignCode&) = delete;

  /// The file being read by this thread; null when none is. Safe to call in a signal handler.
  [[nodiscard]] static const char* file() noexcept;

  /// A program's watchdog: called with the seconds that are more than enough for the file when
  /// reading begins, with 0 when it ends. None by default.
  using Watchdog = void (*)(unsigned seconds);
  static void set_watchdog(Watchdog watchdog) noexcept;

 private:
  const char* outer_;
};

}  // namespace hqmm
