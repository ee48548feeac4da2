#include "hqmm/io/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace hqmm::detail {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    static_cast<void>(close());
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::close() noexcept {
  if (fd_ < 0) return 0;
  return ::close(release()) == 0 || errno == EINTR ? 0 : errno;
}

int Descriptor::release() noexcept { return std::exchange(fd_, -1); }

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;  // or it would be asked for ever
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace hqmm::detail
