#include "hqmm/core/error.hpp"

namespace hqmm {

std::string Where::text() const {
  std::string out = file == "-" ? "stdin" : file;
  if (line) {
    out += fmt::format(":{}", *line);
    if (column) out += fmt::format(":{}", *column);
  }
  if (byte) out += fmt::format("{}byte {}", out.empty() ? "" : ": ", *byte);
  if (!item.empty()) out += fmt::format("{}{}", out.empty() ? "" : ": ", item);
  return out;
}

Error::Error(ErrorCode code, std::string message, Where where)
    : code_(code), message_(std::move(message)), where_(std::move(where)) {
  const std::string place = where_.text();
  line_ = place.empty() ? message_ : place + ": " + message_;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  if (text.size() > most) out += "…";
  return out;
}

}  // namespace hqmm
