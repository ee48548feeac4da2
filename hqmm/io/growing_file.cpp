#include "hqmm/io/growing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

struct stat status_of(int fd, const std::string& path) {
  struct stat out {};
  if (::fstat(fd, &out) != 0)
    throw fail(ErrorCode::kNoInput, Where{.file = path}, "cannot be read: {}",
               std::strerror(errno));
  if (S_ISDIR(out.st_mode))
    throw fail(ErrorCode::kNoInput, Where{.file = path}, "is a directory, not a file");
  return out;
}

}  // namespace

GrowingFile::GrowingFile(const std::string& path) : path_(path) {
  if (path != "-") {
    own_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const int reason = errno;
    if (!own_.is_open() && reason == ENOENT)
      throw fail(ErrorCode::kNoInput, Where{.file = path}, "no such file");
    if (!own_.is_open())
      throw fail(ErrorCode::kNoInput, Where{.file = path}, "cannot be opened: {}",
                 std::strerror(reason));
  }
  grows_ = S_ISREG(status_of(descriptor(), path).st_mode);
}

int GrowingFile::descriptor() const noexcept { return own_.is_open() ? own_.get() : STDIN_FILENO; }

std::size_t GrowingFile::read(std::span<char> buffer) {
  for (;;) {
    const ssize_t got = ::read(descriptor(), buffer.data(), buffer.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      throw fail(ErrorCode::kNoInput, Where{.file = path_}, "cannot be read: {}",
                 std::strerror(errno));
  }
}

bool GrowingFile::start_over() {
  if (!grows_) return false;
  if (reopen()) return true;
  const off_t place = ::lseek(descriptor(), 0, SEEK_CUR);
  if (place <= status_of(descriptor(), path_).st_size) return false;
  return ::lseek(descriptor(), 0, SEEK_SET) == 0;
}

/// Whether the name has come to mean another file. Between the two there may be none.
bool GrowingFile::reopen() {
  if (!own_.is_open()) return false;
  struct stat named {};
  if (::stat(path_.c_str(), &named) != 0 || !S_ISREG(named.st_mode)) return false;
  const struct stat ours = status_of(descriptor(), path_);
  if (named.st_dev == ours.st_dev && named.st_ino == ours.st_ino) return false;
  Descriptor next(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!next.is_open()) return false;
  own_ = std::move(next);
  return true;
}

}  // namespace hqmm::detail
