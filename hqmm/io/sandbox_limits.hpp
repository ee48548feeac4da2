// What a sandboxed process may use and call. Called inside it.
#pragma once

#include <cstddef>

namespace hqmm::detail {

/// What a file of a size may cost to read.
struct SandboxLimits {
  std::size_t memory = 0;    // bytes beyond what the parent had mapped
  unsigned cpu_seconds = 0;  // processor time, not time that passes: a stopped process uses none

  static SandboxLimits of(std::size_t file_size, double max_ratio) noexcept;
};

/// Bytes of address space this process has mapped; 0 when the system does not say.
[[nodiscard]] std::size_t mapped_bytes() noexcept;

/// Closes every descriptor but these two (-1: none).
void close_all_but(int reply, int data) noexcept;
/// No core dumps, no writing of files, no more memory and time than this.
void limit_resources(const SandboxLimits& limits, std::size_t mapped_before) noexcept;
/// From here on: memory, reading what is open, writing to `reply`, and leaving. Everything else
/// fails with EPERM. Does nothing where the kernel has no filters.
void forbid_system_calls(int reply) noexcept;

}  // namespace hqmm::detail
