// A file that others write to while it is read, such as a log: reading continues with what is
// appended. After a log is rotated, reading continues with the file that now has its name; after it
// is truncated, with its new beginning. A pipe or a terminal is read until it ends.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "hqmm/io/descriptor.hpp"

namespace hqmm::detail {

class GrowingFile {
 public:
  /// "-": stdin. Throws kNoInput.
  explicit GrowingFile(const std::string& path);

  /// False of what ends: a pipe and the like.
  [[nodiscard]] bool grows() const noexcept { return grows_; }
  [[nodiscard]] int descriptor() const noexcept;
  /// 0: nothing more for now, or the end of what does not grow. Throws kNoInput.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// To be asked when there is nothing more. True: what comes next starts the file again.
  [[nodiscard]] bool start_over();

 private:
  [[nodiscard]] bool reopen();

  std::string path_;
  Descriptor own_;  // none for stdin
  bool grows_ = false;
};

}  // namespace hqmm::detail
