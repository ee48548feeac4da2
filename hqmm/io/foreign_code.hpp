// HDF5 and matio can crash on damaged files, whatever is checked beforehand. While they read one,
// its name is kept here, so that a program's crash handler can say which file it was instead of
// dumping core.
#pragma once

#include <string>

namespace hqmm {

/// Names the file while it lives. `file` must outlive it.
class ForeignCode {
 public:
  explicit ForeignCode(const std::string& file) noexcept;
  ~ForeignCode();
  ForeignCode(const ForeignCode&) = delete;
  ForeignCode& operator=(const ForeignCode&) = delete;

  /// The file being read by this thread; null when none is. Safe to call in a signal handler.
  [[nodiscard]] static const char* file() noexcept;

 private:
  const char* outer_;
};

}  // namespace hqmm
