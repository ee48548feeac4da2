#include "hqmm/run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "hqmm/run/run_directory.hpp"

namespace hqmm::detail {
namespace {

constexpr int kMostTries = 1000;  // each is lost to another process that ends just then

/// Whether a process that opens the path now gets the same file.
bool names_the_same(const std::string& path, int fd) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace

RunLock::RunLock(std::string path, Kind kind)
    : folder_(std::move(path)), file_((std::filesystem::path(folder_) / ".lock").string()) {
  int reason = EAGAIN;
  for (int i = 0; i < kMostTries; ++i) {
    if (kind == Kind::kNew) made_folder_ = make_run_folder(folder_) || made_folder_;
    lock_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (lock_.is_open() && try_lock()) return;
    if (lock_.is_open()) continue;
    reason = errno;
    // A run that never began may have taken away the folder that was there a moment ago.
    if (kind != Kind::kNew || reason != ENOENT) break;
  }
  throw fail(ErrorCode::kCannotWrite, Where{.file = file_}, "cannot be written: {}",
             std::strerror(reason));
}

bool RunLock::try_lock() const {
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw fail(ErrorCode::kUsage, Where{.file = folder_},
               "another hqmm is training in this run: wait for it to end, or name another folder");
  }
  return names_the_same(file_, lock_.get());
}

RunLock::~RunLock() {
  // Still locked: whoever has the file open finds its name gone, and tries again.
  static_cast<void>(::unlink(file_.c_str()));
  static_cast<void>(lock_.close());
  std::error_code ignored;
  if (made_folder_) std::filesystem::remove(folder_, ignored);  // only when empty
}

bool is_training(const std::string& path) {
  const std::string file = (std::filesystem::path(path) / ".lock").string();
  const Descriptor lock(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  // A shared lock is refused while somebody trains; taken, it is gone again at once.
  return lock.is_open() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace hqmm::detail
