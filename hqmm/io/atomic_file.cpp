#include "hqmm/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "hqmm/io/place.hpp"

namespace hqmm {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

Error cannot_write(const std::string& path, int reason) {
  return fail(ErrorCode::kCannotWrite, in_file(path), "cannot be written: {}",
              std::strerror(reason));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// 0, or the reason: some file systems report a full disk only here.
  int close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int fd_;
};

/// 0, or the reason.
int write_bytes(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The file a chain of symbolic links ends at, which need not exist: the link itself must survive.
fs::path resolve_links(const std::string& path) {
  fs::path out = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(out, failure))) return out;
    const fs::path target = fs::read_symlink(out, failure);
    if (failure) throw cannot_write(path, failure.value());
    out = target.is_absolute() ? target : out.parent_path() / target;
  }
  throw cannot_write(path, ELOOP);
}

/// Devices, pipes and the like, and whatever file stands behind /dev/stdout: appended to, since
/// what is already in them is not ours to cut off.
void write_directly(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (file.get() < 0) throw cannot_write(path, errno);
  if (const int reason = write_bytes(file.get(), bytes)) throw cannot_write(path, reason);
  if (const int reason = file.close()) throw cannot_write(path, reason);
}

/// A new file beside the target, removed again unless it takes the target's place.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& folder, const std::string& target) : target_(target) {
    static std::atomic<unsigned> counter = 0;
    // Not derived from the target's name, which may be as long as names can be. open() and not
    // mkstemp(): a new file gets the permissions the umask grants.
    do {
      path_ = folder / fmt::format(".hqmm-{}-{}.tmp", ::getpid(), counter++);
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) throw cannot_write(target_, errno);
  }
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void fill(std::string_view bytes, const struct stat* replaced) {
    Descriptor file(fd_);
    if (replaced != nullptr) check(::fchmod(fd_, replaced->st_mode & 07777) == 0 ? 0 : errno);
    check(write_bytes(fd_, bytes));
    check(::fsync(fd_) == 0 ? 0 : errno);
    check(file.close());
  }
  void move_to(const fs::path& target) {
    check(::rename(path_.c_str(), target.c_str()) == 0 ? 0 : errno);
    path_.clear();
  }

 private:
  void check(int reason) const {
    if (reason != 0) throw cannot_write(target_, reason);
  }

  std::string target_;
  fs::path path_;
  int fd_ = -1;
};

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw cannot_write(path, EISDIR);
  const bool special = path.starts_with("/dev/") || path.starts_with("/proc/");
  if (exists && (special || !S_ISREG(status.st_mode))) return write_directly(path, bytes);
  // rename() would replace a file its owner has made read-only.
  if (exists && ::access(path.c_str(), W_OK) != 0) throw cannot_write(path, errno);

  const fs::path target = resolve_links(path);
  if (!target.has_filename()) throw cannot_write(path, path.empty() ? ENOENT : EISDIR);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  TemporaryFile temporary(folder, path);
  temporary.fill(bytes, exists ? &status : nullptr);
  temporary.move_to(target);

  // The rename itself must survive a power cut. The file is complete either way, and some file
  // systems cannot sync a folder, so a refusal here is no failure.
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) (void)::fsync(opened.get());
}

}  // namespace hqmm
