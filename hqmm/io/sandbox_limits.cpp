#include "hqmm/io/sandbox_limits.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace hqmm::detail {
namespace {

// A sanitizer maps terabytes and makes other system calls; it finds faults without our help.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kUnderSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kUnderSanitizer = true;
#else
constexpr bool kUnderSanitizer = false;
#endif
#else
constexpr bool kUnderSanitizer = false;
#endif

constexpr std::size_t kLeastMemory = std::size_t{128} << 20;
constexpr std::size_t kMostMemory = std::size_t{1} << 46;
constexpr unsigned kLeastSeconds = 1;
// Both libraries are several times faster on a sound file.
constexpr double kUnpackedPerSecond = 100e6;
constexpr double kReadPerSecond = 10e6;

void limit(decltype(RLIMIT_CPU) what, rlim_t soft, rlim_t hard) noexcept {
  rlimit before{};
  if (::getrlimit(what, &before) != 0) return;
  const rlimit now{std::min(soft, before.rlim_max), std::min(hard, before.rlim_max)};
  ::setrlimit(what, &now);
}

}  // namespace

SandboxLimits SandboxLimits::of(std::size_t file_size, double max_ratio) noexcept {
  const double size = static_cast<double>(file_size);
  const double unpacked = size * max_ratio;
  // The bytes, HDF5's copy of them, what they unpack to as 8-byte numbers, and a margin.
  const double memory = static_cast<double>(kLeastMemory) + 4.0 * size + 9.0 * unpacked;
  const double seconds = unpacked / kUnpackedPerSecond + size / kReadPerSecond;
  return {static_cast<std::size_t>(std::min(memory, static_cast<double>(kMostMemory))),
          kLeastSeconds + static_cast<unsigned>(std::min(seconds, 1e9))};
}

std::size_t mapped_bytes() noexcept {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long pages = 0;
  const bool found = std::fscanf(file, "%llu", &pages) == 1;
  std::fclose(file);
  return found ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(::getpagesize()) : 0;
}

void close_all_but(int reply, int data) noexcept {
  const int low = std::min(reply, data), high = std::max(reply, data);
  const auto close_between = [](int first, int last) {  // last < 0: all from the first on
    if (last >= 0 && first > last) return;
    ::close_range(static_cast<unsigned>(first), last < 0 ? ~0U : static_cast<unsigned>(last), 0);
  };
  const int first = kUnderSanitizer ? STDERR_FILENO + 1 : 0;
  if (low >= 0) close_between(first, low - 1);
  close_between(std::max(first, low + 1), high - 1);
  close_between(high + 1, -1);
}

void limit_resources(const SandboxLimits& limits, std::size_t mapped_before) noexcept {
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_FSIZE, 0, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);
  if (kUnderSanitizer || mapped_before == 0) return;
  limit(RLIMIT_AS, mapped_before + limits.memory, mapped_before + limits.memory);
}

void forbid_system_calls(int reply) noexcept {
  if (kUnderSanitizer) return;
  scmp_filter_ctx const filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) return;
  for (const int call :
       {SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(close),
        SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
        SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(exit), SCMP_SYS(exit_group)}) {
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  }
  const auto allow_if = [&](int call, const scmp_arg_cmp& condition) {
    seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition);
  };
  allow_if(SCMP_SYS(write), {0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(reply), 0});
  // fstat() of newer C libraries; no name is looked up without a folder to start from.
  allow_if(SCMP_SYS(newfstatat), {3, SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH});
  const scmp_arg_cmp not_to_be_run{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
  allow_if(SCMP_SYS(mmap), not_to_be_run);
  allow_if(SCMP_SYS(mprotect), not_to_be_run);
  seccomp_load(filter);
  seccomp_release(filter);
}

}  // namespace hqmm::detail
