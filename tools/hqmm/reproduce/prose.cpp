#include "reproduce/prose.hpp"

#include <map>

#include "hqmm/core/fail.hpp"

namespace hqmm::cli {
namespace {

constexpr std::string_view kOpens = "<!-- ";
constexpr std::string_view kCloses = " -->";

std::string_view without_newlines_around(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

/// A comment of one word names the section after it; what follows any other comment is dropped.
std::map<std::string_view, std::string_view> sections_of(std::string_view text) {
  std::map<std::string_view, std::string_view> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    const std::size_t next = text.find("\n<!-- ");
    const std::string_view body = text.substr(0, next);
    text.remove_prefix(next == std::string_view::npos ? text.size() : next + 1);
    const std::string_view name =
        line.substr(kOpens.size(), line.size() - kOpens.size() - kCloses.size());
    if (name.find(' ') == std::string_view::npos) out[name] = without_newlines_around(body);
  }
  return out;
}

}  // namespace

std::string_view section(std::string_view name) {
  static const std::map<std::string_view, std::string_view> all = sections_of(kProse);
  const auto found = all.find(name);
  if (found == all.end())
    throw fail(ErrorCode::kInternal, "the reproduction has no section '{}'", name);
  return found->second;
}

}  // namespace hqmm::cli
