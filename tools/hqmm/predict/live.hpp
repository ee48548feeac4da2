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
  /// Ctrl-C ends it from here on; whether it did is for the caller to ask.
  explicit LiveInput(const std::string& path);

  /// What there is, as soon as there is anything; 0 at the end, or when it was stopped. Throws
  /// ClosedPipe when nobody reads our stdout any more.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// Whether the bytes that came last begin the file anew: it was cut off, or another has its name.
  [[nodiscard]] bool began_again() const noexcept { return began_again_; }
  [[nodiscard]] bool stopped() const { return stop_(); }

 private:
  GrowingFile file_;
  std::function<bool()> stop_;
  bool began_again_ = false;
};

}  // namespace hqmm::cli
