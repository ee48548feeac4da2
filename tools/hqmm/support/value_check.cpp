// The checks of option values that are our own: short messages that say what was expected.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "support/command_line.hpp"

namespace hqmm::cli {

ValueCheck whole_number(std::uint64_t least, std::uint64_t most) {
  const auto fault = [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (failure == std::errc() && stop == end && value >= least && value <= most) return {};
    const bool bounded = most != std::numeric_limits<std::uint64_t>::max();
    return fmt::format(
        "expected a whole number {}, found '{}'",
        bounded ? fmt::format("from {} to {}", least, most) : fmt::format("of at least {}", least),
        text);
  };
  return {fault, ""};
}

ValueCheck count_or_auto() {
  return {[count = whole_number()](const std::string& text) {
            return text == "auto" ? std::string() : count.fault(text);
          },
          ""};
}

ValueCheck one_of(std::vector<std::string> words) {
  const auto fault = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("expected {}, found '{}'", fmt::join(words, " or "), text);
  };
  return {fault, "", std::move(words)};
}

}  // namespace hqmm::cli
