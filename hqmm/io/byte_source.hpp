// ByteSource: where every input's bytes come from. A path, or "-" for stdin; gzip, xz, bzip2 and
// zstd are unpacked on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hqmm/core/error.hpp"

namespace hqmm::detail {

struct Packing;

/// How many times its size a file may unpack to, unless more is allowed. Ordinary data packs to a
/// hundredth at best; a file made to fill memory, to a thousandth.
inline constexpr double kMaxRatio = 500.0;

class ByteSource {
 public:
  /// Throws kNoInput when the file is missing, unreadable or a directory. A packed stream that has
  /// unpacked to more than 64 MiB may not be more than `max_ratio` times its packed size; without
  /// one that people can set, than kMaxRatio.
  explicit ByteSource(const std::string& path, std::optional<double> max_ratio = {});
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to buffer.size() bytes; 0 at the end. Returns as soon as some are there (stdin may be a
  /// live stream). Throws kBadData on a packed stream that is damaged, truncated, beyond max_ratio
  /// or in need of too much memory, kNoInput on a read error and for a packing that this build
  /// lacks.
  std::size_t read(std::span<char> buffer);
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  struct State;
  void look_at_start();
  bool next_member();
  void refill();
  std::size_t read_packed(std::span<char> buffer);
  [[nodiscard]] Error bad_stream(std::string_view what) const;
  void require_ratio() const;

  std::string name_;
  std::unique_ptr<State> state_;
};

/// For a packing whose unpacker is missing.
[[nodiscard]] Error cannot_unpack(const Packing& packing, const std::string& file);

/// Everything at once, for small or random-access formats.
std::string read_all(const std::string& path);

}  // namespace hqmm::detail
