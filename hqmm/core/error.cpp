#include "hqmm/core/error.hpp"

#include <fmt/format.h>

#include <utility>

#include "hqmm/core/fail.hpp"

namespace hqmm {
using namespace detail;
namespace {

std::string after_place(const Where& where, const std::string& message) {
  const std::string place = where.text();
  return place.empty() ? message : place + ": " + message;
}

}  // namespace

std::string Where::text() const {
  std::string out = file == "-" ? "stdin" : printable(file, file.size());
  if (line) {
    out += fmt::format("{}{}", out.empty() ? "line " : ":", *line);
    if (column) out += fmt::format(":{}", *column);
  }
  if (byte) out += fmt::format("{}byte {}", out.empty() ? "" : ": ", *byte);
  if (!item.empty()) {
    out += fmt::format("{}{}", out.empty() ? "" : ": ", printable(item, item.size()));
  }
  return out;
}

Error::Error(ErrorCode code, std::string marked, Where where)
    : code_(code),
      marked_(std::move(marked)),
      message_(in_words(marked_)),
      where_(std::move(where)),
      line_(after_place(where_, message_)) {}

std::string Error::text(const OptionNames& names) const {
  return after_place(where_, in_words(marked_, names));
}

Error Error::at(Where where) const {
  return Error(code_, marked_, std::move(where)).in(situation_);
}

Error Error::as(ErrorCode code) const {
  Error out = *this;
  out.code_ = code;
  return out;
}

Error Error::in(Situation situation) const {
  Error out = *this;
  out.situation_ = situation;
  return out;
}

}  // namespace hqmm
