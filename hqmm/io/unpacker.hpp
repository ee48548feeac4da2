// Packed streams (gzip, xz, bzip2, zstd), known by their first bytes and unpacked piece by piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace hqmm::detail {

/// Unpacks one member: a stream from its header to its end. Packed files may hold several.
class Unpacker {
 public:
  enum class State { kGoing, kEnded, kDamaged, kTooLarge };
  struct Step {
    std::size_t taken = 0;  // packed bytes
    std::size_t given = 0;  // unpacked ones
    State state = State::kGoing;
  };

  /// What a header may ask for: xz -9 takes 65 MiB, and zstd --long a window of 128 MiB.
  static constexpr std::size_t kMostMemory = std::size_t{256} << 20U;

  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  virtual ~Unpacker() = default;
  /// Takes from `from` and writes to `to` until one of them is used up or the member ends. May have
  /// more to give when `to` was filled, whether there is input or not.
  virtual Step step(std::span<const char> from, std::span<char> to) = 0;
};

struct Packing {
  std::string_view name;                // "xz"
  std::string_view library;             // what it needs to be built with
  std::size_t magic_size;               // bytes that tell
  bool (*has_magic)(std::string_view);  // of a prefix: whether it could still be one
  bool (*may_follow)(unsigned char);    // whether another member may begin so
  std::unique_ptr<Unpacker> (*make)();  // null in a build without the library
};

[[nodiscard]] std::span<const Packing> packings();
/// The one that these first bytes show; null when none does.
[[nodiscard]] const Packing* packing_of(std::string_view head);
/// Whether more bytes are needed to tell.
[[nodiscard]] bool may_be_packed(std::string_view head);
/// Whether this build unpacks it.
[[nodiscard]] bool can_unpack(std::string_view name);

// One file each. Null without the library.
[[nodiscard]] std::unique_ptr<Unpacker> make_gzip_unpacker();
[[nodiscard]] std::unique_ptr<Unpacker> make_xz_unpacker();
[[nodiscard]] std::unique_ptr<Unpacker> make_bzip2_unpacker();
[[nodiscard]] std::unique_ptr<Unpacker> make_zstd_unpacker();

}  // namespace hqmm::detail
