#include "hqmm/io/mat_handle.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "hqmm/core/error.hpp"

namespace hqmm {

MemoryFile::MemoryFile(const std::string& bytes) : fd_(::memfd_create("hqmm", MFD_CLOEXEC)) {
  if (fd_ < 0) throw fail(ErrorCode::kInternal, "no anonymous file could be made");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (wrote <= 0) throw fail(ErrorCode::kInternal, "an anonymous file could not be filled");
    done += static_cast<std::size_t>(wrote);
  }
}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", fd_); }

std::string MemoryFile::bytes() const {
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  std::string out(static_cast<std::size_t>(size), '\0');
  if (::pread(fd_, out.data(), out.size(), 0) != size) {
    throw fail(ErrorCode::kInternal, "an anonymous file could not be read back");
  }
  return out;
}

void silence_matio() {
  Mat_LogInitFunc("hqmm", [](int /*level*/, char* /*message*/) {});
}

}  // namespace hqmm
