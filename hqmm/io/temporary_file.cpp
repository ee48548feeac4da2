#include "hqmm/io/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hqmm/io/place.hpp"

namespace hqmm {
namespace {

/// Opens a new file in `folder` and says in `path` which.
int open_new_file(const std::filesystem::path& folder, std::filesystem::path& path) {
  static std::atomic<unsigned> counter = 0;
  int fd = -1;
  // Not derived from the target's name, which may be as long as names can be. open() and not
  // mkstemp(): a new file gets the permissions the umask grants.
  do {
    path = folder / fmt::format(".hqmm-{}-{}.tmp", ::getpid(), counter++);
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  return fd;
}

}  // namespace

Error cannot_write(const std::string& path, int reason) {
  return fail(ErrorCode::kCannotWrite, in_file(path), "cannot be written: {}",
              std::strerror(reason));
}

int write_bytes(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
}

TemporaryFile::TemporaryFile(const std::filesystem::path& folder, const std::string& target)
    : target_(target), file_(open_new_file(folder, path_)) {
  if (file_.get() < 0) throw cannot_write(target_, errno);
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void TemporaryFile::take_mode(const struct stat& replaced) {
  check(::fchmod(file_.get(), replaced.st_mode & 07777) == 0 ? 0 : errno);
}

void TemporaryFile::write(std::string_view bytes) { check(write_bytes(file_.get(), bytes)); }

void TemporaryFile::seal() {
  check(::fsync(file_.get()) == 0 ? 0 : errno);
  check(file_.close());
}

void TemporaryFile::move_to(const std::filesystem::path& target) {
  check(::rename(path_.c_str(), target.c_str()) == 0 ? 0 : errno);
  path_.clear();
}

void TemporaryFile::check(int reason) const {
  if (reason != 0) throw cannot_write(target_, reason);
}

}  // namespace hqmm
