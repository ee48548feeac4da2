#include "hqmm/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "hqmm/io/temporary_file.hpp"

namespace hqmm {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the kernel follows

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
  if (exists) temporary.take_mode(status);
  temporary.write(bytes);
  temporary.seal();
  temporary.move_to(target);

  // The rename itself must survive a power cut. The file is complete either way, and some file
  // systems cannot sync a folder, so a refusal here is no failure.
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) (void)::fsync(opened.get());
}

}  // namespace hqmm
