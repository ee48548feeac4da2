#include "hqmm/io/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

bool is_temporary_name(const std::string& name) {
  return name.starts_with(".hqmm-") && name.ends_with(".tmp");
}

/// Whether the path is still a name of the open file.
bool still_names(const std::filesystem::path& path, int fd) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 &&
         S_ISREG(opened.st_mode) && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/// The lock is kept until the file is gone: a writer that has just made it, and not locked it yet,
/// finds either the lock taken or the name gone.
void remove_if_left_over(const std::filesystem::path& path) {
  // O_RDWR: over NFS an exclusive lock needs a file open for writing.
  const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  // Between open() and flock() its writer may have finished, and another one taken the same name.
  if (still_names(path, file.get())) static_cast<void>(::unlink(path.c_str()));
}

}  // namespace

Error cannot_write(const std::string& path, int reason) {
  return fail(ErrorCode::kCannotWrite, Where{.file = path}, "cannot be written: {}",
              std::strerror(reason));
}

TemporaryFile::TemporaryFile(const std::filesystem::path& folder, std::string target,
                             const struct stat* replaced)
    : target_(std::move(target)) {
  static std::atomic<unsigned> counter = 0;
  if (replaced != nullptr) mode_ = replaced->st_mode & 07777;
  // Not derived from the target's name, which may be as long as names can be. open() and not
  // mkstemp(): a new file gets the permissions the umask grants.
  const mode_t mode = mode_ ? 0600 : 0666;
  while (!try_name(folder / fmt::format(".hqmm-{}-{}.tmp", ::getpid(), counter++), mode)) {
  }
}

bool TemporaryFile::try_name(const std::filesystem::path& path, mode_t mode) {
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), kNew, mode));
  if (!file.is_open() && errno == EEXIST) return false;
  if (!file.is_open()) check(errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && status.st_nlink == 0) return false;
  file_ = std::move(file);
  path_ = path;
  return true;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void TemporaryFile::write(std::string_view bytes) { check(write_all(file_.get(), bytes)); }

void TemporaryFile::seal() {
  if (mode_) check(::fchmod(file_.get(), *mode_) == 0 ? 0 : errno);
  check(::fsync(file_.get()) == 0 ? 0 : errno);
  // Some file systems report a full disk only when a descriptor is closed. Ours has the lock and
  // stays open until the file has its name.
  check(Descriptor(::dup(file_.get())).close());
}

void TemporaryFile::move_to(const std::filesystem::path& target) {
  check(::rename(path_.c_str(), target.c_str()) == 0 ? 0 : errno);
  path_.clear();
}

void TemporaryFile::check(int reason) const {
  if (reason != 0) throw cannot_write(target_, reason);
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entry(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    std::error_code ignored;
    if (is_temporary_name(entry->path().filename().string()) &&
        std::filesystem::is_regular_file(entry->symlink_status(ignored)))
      remove_if_left_over(entry->path());
  }
}

}  // namespace hqmm::detail
