// A new file beside the one it will replace: the first half of every atomic write.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"

namespace hqmm {

/// "cannot be written: No space left on device", with errno as the reason.
[[nodiscard]] Error cannot_write(const std::string& path, int reason);

/// All of the bytes: 0, or errno.
[[nodiscard]] int write_bytes(int fd, std::string_view bytes);

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// 0, or the reason: some file systems report a full disk only here.
  [[nodiscard]] int close();

 private:
  int fd_;
};

/// A new file in `folder`, removed again unless it takes the target's place. Errors name `target`.
class TemporaryFile {
 public:
  TemporaryFile(const std::filesystem::path& folder, const std::string& target);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// The permissions of the file that it will replace.
  void take_mode(const struct stat& replaced);
  void write(std::string_view bytes);
  /// Everything is on the disk: nothing more can be written.
  void seal();
  void move_to(const std::filesystem::path& target);
  /// Where it is; empty once it has moved.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void check(int reason) const;

  std::string target_;
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace hqmm
