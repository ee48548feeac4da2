// A file descriptor that closes itself, and writing all of something to one.
#pragma once

#include <string_view>

namespace hqmm::detail {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { static_cast<void>(close()); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  /// 0, or the reason: some file systems report a full disk only here.
  int close() noexcept;

 private:
  int release() noexcept;

  int fd_;
};

/// Every byte, however often the kernel takes only some or a signal comes between. 0, or the
/// reason.
[[nodiscard]] int write_all(int fd, std::string_view bytes);

}  // namespace hqmm::detail
