#include "hqmm/core/scratch_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

std::string scratch_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

/// A file that has no name, or soon loses it; -1 and errno when it cannot be.
int open_nameless(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  std::string name = folder + "/.hqmm-scratch-XXXXXX";  // a file system that knows no O_TMPFILE
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

bool is_in_memory(int fd) {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

}  // namespace

ScratchFile::ScratchFile(std::shared_ptr<MemoryBudget> budget)
    : budget_(std::move(budget)), folder_(scratch_folder()) {
  open_in_folder();
  budget_->add(*this);
}

void ScratchFile::open_in_folder() {
  fd_ = open_nameless(folder_);
  if (fd_ < 0) throw cannot_write(errno);
  if (!is_in_memory(fd_)) return;
  ::close(fd_);
  throw fail(ErrorCode::kUsage, Where{.file = folder_},
             "this folder is itself in memory, which {} does not allow: let TMPDIR name one on a "
             "disk",
             option("memory"));
}

ScratchFile::~ScratchFile() {
  budget_->remove(*this);
  if (data_ != nullptr) ::munmap(data_, size_);
  ::close(fd_);
}

Error ScratchFile::cannot_write(int reason) const {
  return fail(ErrorCode::kCannotWrite, Where{.file = folder_},
              "data beyond {} go to a scratch file here, which cannot be written: {}; TMPDIR names "
              "another folder",
              option("memory"), std::strerror(reason));
}

void ScratchFile::grow(std::size_t bytes) {
  if (bytes <= size_) return;
  int reason = EINTR;
  while (reason == EINTR)
    reason = ::posix_fallocate(fd_, static_cast<off_t>(size_), static_cast<off_t>(bytes - size_));
  if (reason != 0) throw cannot_write(reason);
  const std::lock_guard lock(guard_);
  void* const mapped = data_ == nullptr
                           ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)
                           : ::mremap(data_, size_, bytes, MREMAP_MAYMOVE);
  if (mapped == MAP_FAILED) throw cannot_write(errno);
  data_ = mapped;
  size_ = bytes;
}

void ScratchFile::read(std::size_t begin, void* to, std::size_t count) const {
  auto* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(fd_, next, count, static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw fail(ErrorCode::kNoInput, Where{.file = folder_},
                 "the scratch file cannot be read back: {}",
                 got < 0 ? std::strerror(errno) : "it has become shorter");
    next += got;
    begin += static_cast<std::size_t>(got);
    count -= static_cast<std::size_t>(got);
  }
}

void ScratchFile::looked_at(std::size_t bytes) noexcept {
  if (looked_at_.fetch_add(bytes) + bytes < budget_->bytes() / 16) return;
  looked_at_ = 0;
  let_go();
}

void ScratchFile::let_go() noexcept {
  const std::lock_guard lock(guard_);
  if (data_ != nullptr) ::madvise(data_, size_, MADV_DONTNEED);
}

}  // namespace hqmm::detail
