// The places that io errors name, in short.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hqmm/core/error.hpp"

namespace hqmm::detail {

inline Where in_file(std::string file) {
  Where where;
  where.file = std::move(file);
  return where;
}
inline Where at_line(std::string file, std::uint64_t line, std::uint64_t column) {
  Where where = in_file(std::move(file));
  where.line = line;
  where.column = column;
  return where;
}
inline Where at_byte(std::string file, std::uint64_t byte) {
  Where where = in_file(std::move(file));
  where.byte = byte;
  return where;
}
inline Where in_item(std::string file, std::string item) {
  Where where = in_file(std::move(file));
  where.item = std::move(item);
  return where;
}

}  // namespace hqmm::detail
