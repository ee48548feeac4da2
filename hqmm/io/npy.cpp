#include "hqmm/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "hqmm/core/fail.hpp"
#include "hqmm/io/integer_matrix.hpp"

namespace hqmm::detail {
namespace {

constexpr std::size_t kMagicSize = 6;  // "\x93NUMPY"
constexpr std::size_t kVersionSize =
    2;  // then the header's length: two bytes, or four from version 2 on

/// The header: a Python dict literal such as {'descr': '<i8', 'fortran_order': False, 'shape': (3,
/// 4), }.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t data_at = 0;
};

class HeaderParser {
 public:
  HeaderParser(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Header parse() {
    const std::size_t begin = find_text();
    Header header;
    header.data_at = begin + text_.size();
    const std::string_view descr = value_of("descr");
    if (!descr.starts_with('\'') && !descr.starts_with('"')) {
      throw bad(begin, "an array of records (structured dtype) holds no sequences");
    }
    const std::size_t end = descr.find(descr.front(), 1);
    if (end == std::string_view::npos) throw bad(begin, "the header's descr is malformed");
    header.descr = descr.substr(1, end - 1);
    const std::string_view order = value_of("fortran_order");
    if (!order.starts_with("True") && !order.starts_with("False")) {
      throw bad(begin, "the header's fortran_order is malformed");
    }
    header.fortran_order = order.starts_with("True");
    header.shape = parse_shape(value_of("shape"), begin);
    return header;
  }

 private:
  Error bad(std::size_t byte, std::string_view what) const {
    return fail(ErrorCode::kBadData, Where{.file = file_, .byte = byte}, "{}", what);
  }

  std::size_t find_text() {
    const auto byte = [this](std::size_t i) {
      return std::size_t{static_cast<unsigned char>(bytes_[i])};
    };
    if (bytes_.size() < kMagicSize + kVersionSize + 2 || !bytes_.starts_with("\x93NUMPY")) {
      throw bad(0, "this is not a .npy file");
    }
    const std::size_t major = byte(kMagicSize);
    if (major < 1 || major > 3) throw bad(kMagicSize, "unknown .npy version");
    const std::size_t length_at = kMagicSize + kVersionSize;
    const std::size_t begin = length_at + (major == 1 ? 2 : 4);
    if (bytes_.size() < begin) throw bad(bytes_.size(), "the file ends inside the header");
    std::size_t length = 0;
    for (std::size_t i = begin; i-- > length_at;) length = 256 * length + byte(i);
    if (length > bytes_.size() - begin) throw bad(bytes_.size(), "the file ends inside the header");
    text_ = bytes_.substr(begin, length);
    return begin;
  }

  /// What follows 'key': in the dict.
  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::size_t found = text_.find(quote + std::string(key) + quote);
      if (found == std::string_view::npos) continue;
      std::string_view rest = text_.substr(found + key.size() + 2);
      const std::size_t value = rest.find_first_not_of(" :");
      if (value != std::string_view::npos && rest.starts_with(':')) return rest.substr(value);
    }
    throw fail(ErrorCode::kBadData, Where{.file = file_, .byte = kMagicSize + kVersionSize},
               "the header does not say '{}'", key);
  }

  std::vector<std::size_t> parse_shape(std::string_view text, std::size_t begin) const {
    std::vector<std::size_t> shape;
    const char* p = text.data() + 1;
    const char* const end = text.data() + text.size();
    if (!text.starts_with('(')) throw bad(begin, "the header's shape is malformed");
    while (p != end && *p != ')') {
      std::size_t extent = 0;
      const auto [stop, failure] = std::from_chars(p, end, extent);
      if (failure != std::errc()) throw bad(begin, "the header's shape is malformed");
      shape.push_back(extent);
      p = stop;
      if (p != end && *p == 'L') ++p;  // Python 2 wrote long integers so
      while (p != end && (*p == ',' || *p == ' ')) ++p;
    }
    if (p == end) throw bad(begin, "the header's shape is malformed");
    return shape;
  }

  std::string_view bytes_;
  std::string file_;
  std::string_view text_;
};

template <typename T>
double load_element(const char* from, bool swapped) {
  std::array<char, sizeof(T)> raw{};
  std::memcpy(raw.data(), from, sizeof(T));
  if (swapped) std::reverse(raw.begin(), raw.end());
  return static_cast<double>(std::bit_cast<T>(raw));
}

using Loader = double (*)(const char*, bool);

/// How to read one element; nothing when the dtype cannot hold symbols.
Loader loader_of(char kind, std::size_t size) {
  switch (kind) {
    case 'b':
      return size == 1 ? load_element<std::uint8_t> : nullptr;
    case 'i':
      return size == 1   ? load_element<std::int8_t>
             : size == 2 ? load_element<std::int16_t>
             : size == 4 ? load_element<std::int32_t>
             : size == 8 ? load_element<std::int64_t>
                         : nullptr;
    case 'u':
      return size == 1   ? load_element<std::uint8_t>
             : size == 2 ? load_element<std::uint16_t>
             : size == 4 ? load_element<std::uint32_t>
             : size == 8 ? load_element<std::uint64_t>
                         : nullptr;
    case 'f':
      return size == 4 ? load_element<float> : size == 8 ? load_element<double> : nullptr;
    default:
      return nullptr;
  }
}

struct ElementType {
  Loader load = nullptr;
  std::size_t size = 0;
  bool swapped = false;
};

ElementType element_type(const Header& header, const std::string& file) {
  const std::string& descr = header.descr;
  ElementType type;
  const bool complete =
      descr.size() >= 3 && std::string_view("<>|=").find(descr[0]) != std::string::npos;
  const char* const end = descr.data() + descr.size();
  if (complete && std::from_chars(descr.data() + 2, end, type.size).ptr == end) {
    type.load = loader_of(descr[1], type.size);
    const bool little = std::endian::native == std::endian::little;
    type.swapped = descr[0] == (little ? '>' : '<');
  }
  if (type.load == nullptr) {
    throw fail(ErrorCode::kBadData, Where{.file = file, .byte = kMagicSize + kVersionSize},
               "elements of type '{}' are not symbols: integers are needed", printable(descr));
  }
  return type;
}

/// Throws unless exactly the elements of the shape follow the header.
void check_size(const Header& header, std::size_t element_size, std::size_t bytes,
                const std::string& file) {
  const std::size_t present = bytes - header.data_at;
  std::size_t wanted = element_size;
  for (const std::size_t extent : header.shape) {
    if (__builtin_mul_overflow(wanted, extent, &wanted)) {
      throw fail(ErrorCode::kBadData, Where{.file = file, .byte = kMagicSize + kVersionSize},
                 "the header's shape is larger than any file");
    }
  }
  if (present < wanted) {
    throw fail(ErrorCode::kBadData, Where{.file = file, .byte = bytes},
               "the data is truncated: {} bytes are needed, {} are there", wanted, present);
  }
  if (present > wanted) {
    throw fail(ErrorCode::kBadData, Where{.file = file, .byte = header.data_at + wanted},
               "{} bytes follow the array", present - wanted);
  }
}

}  // namespace

SequenceSet read_npy(Input& input, const ReadOptions& options) {
  const std::string bytes = input.rest();
  const Header header = HeaderParser(bytes, input.name()).parse();
  const ElementType type = element_type(header, input.name());
  const std::size_t rank = header.shape.size();
  if (rank != 1 && rank != 2) {
    throw fail(ErrorCode::kBadData, Where{.file = input.name(), .byte = kMagicSize + kVersionSize},
               "expected an array of 1 or 2 dimensions, found {}", rank);
  }
  check_size(header, type.size, bytes.size(), input.name());

  IntegerMatrix matrix;
  matrix.rows = rank == 1 ? 1 : header.shape[0];
  matrix.columns = header.shape.back();
  const char* const data = bytes.data() + header.data_at;
  const std::size_t row_step = header.fortran_order ? 1 : matrix.columns;
  const std::size_t column_step = header.fortran_order ? matrix.rows : 1;
  matrix.cell = [=](std::size_t row, std::size_t column) {
    return type.load(data + (row * row_step + column * column_step) * type.size, type.swapped);
  };
  return to_sequences({matrix}, false, input.name(), options);
}

}  // namespace hqmm::detail
