#include "hqmm/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "hqmm/io/descriptor.hpp"
#include "hqmm/io/place.hpp"
#include "hqmm/io/temporary_file.hpp"

namespace hqmm {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

Error cannot_write(const std::string& path, int reason) {
  return fail(ErrorCode::kCannotWrite, in_file(path), "cannot be written: {}",
              std::strerror(reason));
}

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

/// Devices, pipes and the like, and whatever file stands behind /dev/stdout: appended to, since
/// what is already in them is not ours to cut off.
void write_directly(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.is_open()) throw cannot_write(path, errno);
  if (const int reason = write_all(file.get(), bytes)) throw cannot_write(path, reason);
  if (const int reason = file.close()) throw cannot_write(path, reason);
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw cannot_write(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_directly(path, bytes);
  const auto [target, is_descriptor] = resolve_links(path);
  if (exists && is_descriptor) return write_directly(path, bytes);
  // rename() would replace a file its owner has made read-only.
  if (exists && ::access(path.c_str(), W_OK) != 0) throw cannot_write(path, errno);
  if (!target.has_filename()) throw cannot_write(path, path.empty() ? ENOENT : EISDIR);

  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  remove_leftovers(folder);  // first: a disk may be full of them
  TemporaryFile temporary(folder, path, exists ? &status : nullptr);
  temporary.fill(bytes);
  temporary.move_to(target);

  // The rename itself must survive a power cut. The file is complete either way, and some file
  // systems cannot sync a folder, so a refusal here is no failure.
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) (void)::fsync(opened.get());
}

}  // namespace hqmm
