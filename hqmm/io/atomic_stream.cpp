#include "hqmm/io/atomic_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hqmm::detail {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

/// An entry of /proc/…/fd. It leads to an open file, not to a path.
bool is_open_file(const fs::path& link) {
  std::error_code failure;
  const fs::path folder = fs::canonical(link.parent_path(), failure);
  return !failure && folder.filename() == "fd" && folder.string().starts_with("/proc/");
}

struct Destination {
  fs::path file;               // need not exist
  bool is_descriptor = false;  // reached through /proc/…/fd, as /dev/stdout is
};

/// Where a chain of symbolic links ends: the link itself must survive.
Destination resolve_links(const std::string& path) {
  fs::path out = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code failure;
    if (!fs::is_symlink(fs::symlink_status(out, failure))) return {out};
    if (is_open_file(out)) return {out, true};
    const fs::path target = fs::read_symlink(out, failure);
    if (failure) throw cannot_write(path, failure.value());
    out = target.is_absolute() ? target : out.parent_path() / target;
  }
  throw cannot_write(path, ELOOP);
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

}  // namespace

AtomicStream::AtomicStream(const std::string& path) : path_(path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw cannot_write(path, EISDIR);
  const Destination destination = resolve_links(path);
  if (exists && (destination.is_descriptor || !S_ISREG(status.st_mode))) {
    // Devices, pipes and the like, and whatever file /dev/stdout refers to: appended to, since
    // what is already in them is not ours to cut off.
    direct_.emplace(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
    if (!direct_->is_open()) throw cannot_write(path, errno);
    return;
  }
  // rename() would replace a file its owner has made read-only.
  if (exists && ::access(path.c_str(), W_OK) != 0) throw cannot_write(path, errno);
  target_ = destination.file;
  if (!target_.has_filename()) throw cannot_write(path, path.empty() ? ENOENT : EISDIR);
  remove_leftovers(folder_of(target_));  // first: a disk may be full of them
  temporary_.emplace(folder_of(target_), path, exists ? &status : nullptr);
}

void AtomicStream::write(std::string_view bytes) {
  if (temporary_) return temporary_->write(bytes);
  if (const int reason = write_all(direct_->get(), bytes)) throw cannot_write(path_, reason);
}

void AtomicStream::finish() {
  if (!temporary_) {
    if (const int reason = direct_->close()) throw cannot_write(path_, reason);
    return;
  }
  temporary_->seal();
  temporary_->move_to(target_);
  // The rename itself must survive a power cut. The file is complete either way, and some file
  // systems cannot sync a folder, so a refusal here is not a failure.
  const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) (void)::fsync(folder.get());
}

bool AtomicStream::is_terminal() const { return direct_ && ::isatty(direct_->get()) == 1; }

fs::path AtomicStream::temporary_path() const {
  return temporary_ ? temporary_->path() : fs::path();
}

}  // namespace hqmm::detail
