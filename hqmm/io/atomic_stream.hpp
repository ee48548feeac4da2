// A file written piece by piece that appears whole or not at all: what is too long to be held in
// memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hqmm/io/temporary_file.hpp"

namespace hqmm::detail {

/// Until finish() the file at the path is what it was. A path that is not a regular file
/// (/dev/stdout, a pipe) is written to directly. Everything throws kCannotWrite with the path and
/// the reason.
class AtomicStream {
 public:
  explicit AtomicStream(const std::string& path);
  void write(std::string_view bytes);
  void finish();
  /// The path leads to a terminal.
  [[nodiscard]] bool is_terminal() const;
  /// Where the bytes are until finish(); empty when they go to the path directly.
  [[nodiscard]] std::filesystem::path temporary_path() const;

 private:
  std::string path_;
  std::filesystem::path target_;  // of the links that the path may be
  std::optional<Descriptor> direct_;
  std::optional<TemporaryFile> temporary_;
};

}  // namespace hqmm::detail
