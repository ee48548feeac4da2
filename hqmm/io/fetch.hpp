// Fetching a file from an http, https or file address (libcurl), or from a path. Limits keep a
// wrong address from filling memory or waiting for ever; whether the bytes are the right ones is
// for the caller to check.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hqmm::detail {

struct FetchOptions {
  std::uint64_t most_bytes = std::uint64_t{64} << 20U;
  double connect_seconds = 20.0;
  double stall_seconds = 30.0;   // without a byte
  double total_seconds = 600.0;  // for everything
  int most_redirects = 5;        // to http and https only
  /// Bytes so far and in all; 0 in all: not known.
  std::function<void(std::uint64_t, std::uint64_t)> on_progress;
};

/// All bytes of "https://…", "http://…", "file://…", a path (unpacked) or "-" (stdin). Throws
/// kUsage for any other kind of address, kNoInput when it cannot be had whole, kBadData when it is
/// larger than the limit.
[[nodiscard]] std::string fetch(const std::string& from, const FetchOptions& options = {});

}  // namespace hqmm::detail
