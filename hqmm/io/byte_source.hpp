// ByteSource: where every input's bytes come from. A path, or "-" for stdin; gzip is unpacked on
// the way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hqmm {

/// How many times its size a file may unpack to, unless more is allowed. Ordinary data packs to a
/// hundredth at best; a file made to fill memory, to a thousandth.
inline constexpr double kMaxRatio = 500.0;

class ByteSource {
 public:
  /// Throws kNoInput when the file is missing, unreadable or a directory. A gzip stream that has
  /// unpacked to more than 64 MiB may not be more than `max_ratio` times its packed size; without
  /// one that people can set, than kMaxRatio.
  explicit ByteSource(const std::string& path, std::optional<double> max_ratio = {});
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to buffer.size() bytes; 0 at the end. Returns as soon as some are there (stdin may be a
  /// live stream). Throws kBadData on a gzip stream that is damaged, truncated or beyond max_ratio,
  /// kNoInput on a read error.
  std::size_t read(std::span<char> buffer);
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct State;
  void look_at_start();
  bool next_member();
  std::size_t read_gzip(std::span<char> buffer);

  std::string name_;
  std::unique_ptr<State> state_;
};

/// Everything at once, for small or random-access formats.
std::string read_all(const std::string& path);

}  // namespace hqmm
