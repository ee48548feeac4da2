// Bytes as they come, from stdin or from a file that grows.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "hqmm/io/growing_file.hpp"
#include "support/internals.hpp"

namespace hqmm::cli {

class LiveInput {
 public:
  /// From here on Ctrl-C ends it; the caller asks whether it did.
  explicit LiveInput(const std::string& path);

  /// Returns bytes as soon as there are any; 0 at the end, or when it was stopped. Throws
  /// ClosedPipe when nobody reads our stdout any more.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// Whether the last bytes start the file again: it was truncated or replaced.
  [[nodiscard]] bool began_again() const noexcept { return began_again_; }
  [[nodiscard]] bool stopped() const { return stop_(); }

 private:
  GrowingFile file_;
  std::function<bool()> stop_;
  bool began_again_ = false;
};

}  // namespace hqmm::cli
