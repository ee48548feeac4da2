#include "hqmm/io/wire.hpp"

namespace hqmm::detail {

void WireWriter::text(std::string_view text) {
  number(std::uint64_t{text.size()});
  raw(text.data(), text.size());
}

void WireWriter::texts(const std::vector<std::string>& texts) {
  number(std::uint64_t{texts.size()});
  for (const std::string& one : texts) text(one);
}

void WireWriter::optional_text(const std::optional<std::string>& text) {
  number(std::uint8_t{text.has_value()});
  if (text) this->text(*text);
}

void WireReader::raw(void* to, std::size_t size) {
  if (size > left_) throw WireFault();
  left_ -= size;
  char* at = static_cast<char*>(to);
  while (size > 0) {
    const std::size_t got = source_(at, size);
    if (got == 0 || got > size) throw WireFault();
    at += got;
    size -= got;
  }
}

bool WireReader::flag() {
  const auto value = number<std::uint8_t>();
  if (value > 1) throw WireFault();
  return value == 1;
}

std::string WireReader::text() {
  const std::vector<char> characters = numbers<char>();
  return {characters.begin(), characters.end()};
}

std::vector<std::string> WireReader::texts() {
  std::vector<std::string> out;
  for (auto left = number<std::uint64_t>(); left > 0; --left) out.push_back(text());
  return out;
}

std::optional<std::string> WireReader::optional_text() {
  if (!flag()) return {};
  return text();
}

}  // namespace hqmm::detail
