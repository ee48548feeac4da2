// The layout is that of MathWorks' "MAT-File Format", chapter 1: elements of a tag (type, size) and
// data, padded to 8 bytes; a matrix is an element made of elements (flags, dimensions, name, then
// the content).
#include "hqmm/io/mat_check.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>

#include "hqmm/core/fail.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kHeaderSize = 128;
constexpr std::size_t kVersionAt = 124;  // two bytes; then "IM": written by a little-endian machine
constexpr std::size_t kTagSize = 8;
constexpr std::size_t kMostDimensions = 32;
constexpr int kDeepest = 32;

enum Type : std::uint32_t { kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kPacked = 15 };
enum Class : std::uint32_t { kCell = 1, kStruct = 2, kFirstNumeric = 6, kLastNumeric = 15 };
constexpr std::uint32_t kComplexFlag = 0x0800;

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

/// Walks the elements of a stretch of bytes.
class Elements {
 public:
  Elements(std::string_view bytes, bool little) : bytes_(bytes), little_(little) {}

  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  /// Nothing when the next element does not fit.
  std::optional<Element> next() {
    if (bytes_.size() < kTagSize) return {};
    const std::uint32_t first = word(bytes_, 0);
    std::uint32_t type = first, size = word(bytes_, 4);
    std::size_t begin = kTagSize;
    if (first >> 16 != 0) {  // up to four bytes of data share the tag
      type = first & 0xFFFF;
      size = first >> 16;
      begin = 4;
      if (size > 4) return {};
    }
    if (size > bytes_.size() - begin) return {};
    const Element element{type, bytes_.substr(begin, size)};
    const std::size_t whole = type == kPacked ? begin + size : (begin + size + 7) / 8 * 8;
    bytes_.remove_prefix(std::min(whole, bytes_.size()));
    return element;
  }
  [[nodiscard]] std::uint32_t word(std::string_view bytes, std::size_t at) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      out = out << 8 | static_cast<unsigned char>(bytes[at + (little_ ? 3 - i : i)]);
    }
    return out;
  }
  [[nodiscard]] bool little() const { return little_; }

 private:
  std::string_view bytes_;
  bool little_;
};

bool sound_matrix(std::string_view bytes, bool little, int depth);

/// Bytes per number of a stored type; 0 for types that are not numbers.
std::size_t stored_size(std::uint32_t type) {
  constexpr std::array<std::uint8_t, 14> kSizes{0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < kSizes.size() ? kSizes[type] : 0;
}

/// The number of elements a matrix has by its dimensions.
std::optional<std::uint64_t> count_of(const Element& dimensions, const Elements& elements) {
  const std::size_t rank = dimensions.data.size() / 4;
  if (dimensions.type != kInt32 || dimensions.data.size() % 4 != 0 || rank < 2) return {};
  if (rank > kMostDimensions) return {};
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint32_t extent = elements.word(dimensions.data, 4 * i);
    if (extent > INT32_MAX || __builtin_mul_overflow(count, extent, &count)) return {};
  }
  return count;
}

bool sound_numbers(Elements& elements, std::uint64_t count, bool complex) {
  for (int part = 0; part < (complex ? 2 : 1); ++part) {
    const auto numbers = elements.next();
    if (!numbers || stored_size(numbers->type) == 0) return false;
    const std::size_t size = stored_size(numbers->type);
    if (numbers->data.size() % size != 0 || numbers->data.size() / size != count) return false;
  }
  return true;
}

bool sound_matrices(Elements& elements, std::uint64_t count, int depth) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto matrix = elements.next();
    if (!matrix || matrix->type != kMatrix) return false;
    if (!sound_matrix(matrix->data, elements.little(), depth + 1)) return false;
  }
  return true;
}

bool sound_struct(Elements& elements, std::uint64_t count, int depth) {
  const auto length = elements.next();
  const auto names = elements.next();
  if (!length || !names || length->type != kInt32 || length->data.size() != 4) return false;
  const std::uint32_t name_size = elements.word(length->data, 0);
  if (names->type != kInt8 || name_size == 0 || names->data.size() % name_size != 0) return false;
  for (std::size_t at = 0; at < names->data.size(); at += name_size) {
    if (names->data.substr(at, name_size).find('\0') == std::string_view::npos) return false;
  }
  std::uint64_t fields = 0;
  if (__builtin_mul_overflow(count, names->data.size() / name_size, &fields)) return false;
  return sound_matrices(elements, fields, depth);
}

bool sound_matrix(std::string_view bytes, bool little, int depth) {
  if (bytes.empty()) return true;  // how an empty field is written
  Elements elements(bytes, little);
  const auto flags = elements.next();
  const auto dimensions = elements.next();
  const auto name = elements.next();
  if (!flags || !dimensions || !name || depth > kDeepest) return false;
  if (flags->type != kUint32 || flags->data.size() != 8 || name->type != kInt8) return false;
  const std::uint32_t word = elements.word(flags->data, 0);
  const std::uint32_t kind = word & 0xFF;
  if (kind > kLastNumeric) return true;  // function handles and objects, laid out otherwise
  const auto count = count_of(*dimensions, elements);
  if (!count) return false;
  if (kind == kCell) return sound_matrices(elements, *count, depth);
  if (kind == kStruct) return sound_struct(elements, *count, depth);
  if (kind < kFirstNumeric) return true;  // text, sparse and objects: listed, never read
  return sound_numbers(elements, *count, (word & kComplexFlag) != 0);
}

/// Nothing when the zlib stream does not unpack to its end or its checksum is wrong.
std::optional<std::string> unpacked(std::string_view packed) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::array<char, 16 * 1024> scratch{};
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(scratch.data());
    stream.avail_out = static_cast<uInt>(scratch.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(scratch.data(), scratch.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return {};
  return out;
}

bool sound_variable(const Element& variable, bool little) {
  if (variable.type == kMatrix) return sound_matrix(variable.data, little, 0);
  if (variable.type != kPacked) return false;
  const auto plain = unpacked(variable.data);
  if (!plain) return false;
  const auto matrix = Elements(*plain, little).next();
  return matrix && matrix->type == kMatrix && sound_matrix(matrix->data, little, 0);
}

}  // namespace

void require_mat5_header(std::string_view bytes, const std::string& file) {
  const std::string_view version =
      bytes.size() < kHeaderSize ? std::string_view() : bytes.substr(kVersionAt, 4);
  if (version == std::string_view("\0\1IM", 4) || version == std::string_view("\1\0MI", 4)) return;
  throw fail(ErrorCode::kBadData, Where{.file = file},
             "this is not a MATLAB file of version 5 to 7");
}

void check_mat5(std::string_view bytes, const std::string& file) {
  require_mat5_header(bytes, file);
  const bool little = bytes[kVersionAt + 2] == 'I';
  for (std::size_t at = kHeaderSize; at < bytes.size();) {
    Elements rest(bytes.substr(at), little);
    const auto variable = rest.next();
    if (!variable) {
      throw fail(ErrorCode::kBadData, Where{.file = file, .byte = at},
                 "the MATLAB file is truncated inside the variable that starts here");
    }
    if (!sound_variable(*variable, little)) {
      throw fail(ErrorCode::kBadData, Where{.file = file, .byte = at},
                 "the MATLAB file is damaged inside the variable that starts here");
    }
    at = static_cast<std::size_t>(variable->data.data() - bytes.data()) + variable->data.size();
  }
}

}  // namespace hqmm::detail
