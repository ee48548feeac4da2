#include "hqmm/io/unpacker.hpp"

#include <algorithm>
#include <array>

namespace hqmm::detail {
namespace {

using namespace std::string_view_literals;

bool same_start(std::string_view head, std::string_view magic) {
  const std::size_t count = std::min(head.size(), magic.size());
  return head.substr(0, count) == magic.substr(0, count);
}

bool starts_gzip(std::string_view head) { return same_start(head, "\x1F\x8B"sv); }
bool starts_xz(std::string_view head) { return same_start(head, "\xFD\x37zXZ\0"sv); }
bool starts_zstd(std::string_view head) { return same_start(head, "\x28\xB5\x2F\xFD"sv); }

/// "BZh" alone could be a word of a text: a block, or the end of an empty file, has to follow.
bool starts_bzip2(std::string_view head) {
  constexpr std::size_t kLevel = 3;
  if (!same_start(head, "BZh"sv)) return false;
  if (head.size() <= kLevel) return true;
  if (head[kLevel] < '1' || head[kLevel] > '9') return false;
  const std::string_view block = head.substr(kLevel + 1);
  return same_start(block, "1AY&SY"sv) || same_start(block, "\x17\x72\x45\x38\x50\x90"sv);
}

bool follows_gzip(unsigned char first) { return first == 0x1F; }
bool follows_xz(unsigned char first) { return first == 0xFD; }
bool follows_bzip2(unsigned char first) { return first == 'B'; }
/// Or one of the frames that are there to be skipped.
bool follows_zstd(unsigned char first) { return first == 0x28 || (first & 0xF0U) == 0x50U; }

const std::array<Packing, 4>& all_packings() {
  static const std::array<Packing, 4> packings{{
      {"gzip", "zlib", 2, starts_gzip, follows_gzip, make_gzip_unpacker},
#if HQMM_HAS_XZ
      {"xz", "liblzma", 6, starts_xz, follows_xz, make_xz_unpacker},
#else
      {"xz", "liblzma", 6, starts_xz, follows_xz, nullptr},
#endif
#if HQMM_HAS_BZIP2
      {"bzip2", "libbz2", 10, starts_bzip2, follows_bzip2, make_bzip2_unpacker},
#else
      {"bzip2", "libbz2", 10, starts_bzip2, follows_bzip2, nullptr},
#endif
#if HQMM_HAS_ZSTD
      {"zstd", "libzstd", 4, starts_zstd, follows_zstd, make_zstd_unpacker},
#else
      {"zstd", "libzstd", 4, starts_zstd, follows_zstd, nullptr},
#endif
  }};
  return packings;
}

}  // namespace

std::span<const Packing> packings() { return all_packings(); }

const Packing* packing_of(std::string_view head) {
  for (const Packing& packing : packings())
    if (head.size() >= packing.magic_size && packing.has_magic(head)) return &packing;
  return nullptr;
}

bool may_be_packed(std::string_view head) {
  return std::any_of(packings().begin(), packings().end(), [&](const Packing& packing) {
    return head.size() < packing.magic_size && packing.has_magic(head);
  });
}

bool can_unpack(std::string_view name) {
  return std::any_of(packings().begin(), packings().end(), [&](const Packing& packing) {
    return packing.name == name && packing.make != nullptr;
  });
}

}  // namespace hqmm::detail
