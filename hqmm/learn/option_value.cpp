// Checking the value of one option against its row.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "hqmm/core/fail.hpp"
#include "hqmm/learn/option_table.hpp"

namespace hqmm::detail {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::max();

bool within(const OptionRange& range, double value) {
  return (range.without_least ? value > range.least : value >= range.least) &&
         (range.without_most ? value < range.most : value <= range.most);
}

std::string number_text(const OptionRange& range) {
  if (range.most >= kNoLimit)
    return fmt::format("a number {} {}", range.without_least ? ">" : "≥", range.least);
  return fmt::format("a number in {}{}, {}{}", range.without_least ? '(' : '[', range.least,
                     range.most, range.without_most ? ')' : ']');
}

std::string count_text(const OptionRange& range) {
  if (range.most >= kNoLimit) return fmt::format("a whole number of at least {}", range.least);
  return fmt::format("a whole number from {} to {}", range.least, range.most);
}

std::string found_text(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return fmt::format("'{}'", printable(*text));
  return value_text(value);
}

std::optional<std::uint64_t> as_count(const OptionValue& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return *count;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 0) return {};
  return static_cast<std::uint64_t>(*number);
}

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number out{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, out);
  if (failure != std::errc() || stop != end || text.empty()) return {};
  return out;
}

/// 1536, 512M: a whole number with K, M or G for a power of 1024.
std::optional<std::uint64_t> read_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  if (text.empty()) return {};
  const std::size_t unit = kUnits.find(text.back());
  const unsigned shift =
      unit == std::string_view::npos ? 0 : 10 * (static_cast<unsigned>(unit) + 1);
  if (shift > 0) text.remove_suffix(1);
  const auto count = read_number<std::uint64_t>(text);
  if (!count || *count > std::numeric_limits<std::uint64_t>::max() >> shift) return {};
  return *count << shift;
}

std::optional<double> as_number(const OptionValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  return {};
}

/// Nothing when the value is not one that the option takes.
std::optional<OptionValue> accepted(const OptionInfo& option, const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  switch (option.type) {
    case OptionType::kSwitch:
      if (std::holds_alternative<bool>(value)) return value;
      return {};
    case OptionType::kCountOrAuto:
      if (text != nullptr && *text == "auto") return value;
      [[fallthrough]];
    case OptionType::kCount: {
      const std::optional<std::uint64_t> count = as_count(value);
      if (count && within(option.range, static_cast<double>(*count))) return OptionValue(*count);
      return {};
    }
    case OptionType::kBytes: {
      const std::optional<std::uint64_t> bytes =
          text != nullptr ? read_bytes(*text) : as_count(value);
      if (bytes) return OptionValue(*bytes);
      return {};
    }
    case OptionType::kNumber: {
      const std::optional<double> number = as_number(value);
      if (number && within(option.range, *number)) return OptionValue(*number);
      return {};
    }
    case OptionType::kWord:
      if (text != nullptr && std::ranges::find(option.words, *text) != option.words.end())
        return value;
      return {};
    case OptionType::kText:
      break;
  }
  if (text != nullptr) return value;
  return {};
}

/// What the text most likely is; text itself when it is nothing else.
OptionValue guessed(OptionType type, std::string_view text) {
  if (type == OptionType::kSwitch && (text == "true" || text == "false")) return text == "true";
  if (type == OptionType::kCount || type == OptionType::kCountOrAuto) {
    if (const auto count = read_number<std::uint64_t>(text)) return *count;
  }
  if (type == OptionType::kNumber) {
    if (const auto number = read_number<double>(text)) return *number;
  }
  return std::string(text);
}

}  // namespace

bool OptionInfo::is_about(LearnerKind learner) const {
  return learners.empty() || std::ranges::find(learners, learner) != learners.end();
}

std::string expected_text(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::kSwitch:
      return "true or false";
    case OptionType::kCount:
      return count_text(option.range);
    case OptionType::kCountOrAuto:
      return count_text(option.range) + ", or auto";
    case OptionType::kBytes:
      return "a number of bytes such as 512M or 2G (0: no limit)";
    case OptionType::kNumber:
      return number_text(option.range);
    case OptionType::kWord:
      return fmt::format("{}", fmt::join(option.words, " or "));
    case OptionType::kText:
      break;
  }
  return "text";
}

OptionValue checked(const OptionInfo& info, const OptionValue& value) {
  if (std::optional<OptionValue> out = accepted(info, value)) return *std::move(out);
  throw fail(ErrorCode::kUsage, "{}: expected {}, found {}", option(info.id), expected_text(info),
             found_text(value));
}

std::string fault_in(const OptionInfo& info, std::string_view text) {
  if (accepted(info, guessed(info.type, text))) return {};
  return fmt::format("expected {}, found '{}'", expected_text(info), printable(text));
}

OptionValue parsed(const OptionInfo& info, std::string_view text) {
  if (std::optional<OptionValue> out = accepted(info, guessed(info.type, text)))
    return *std::move(out);
  throw fail(ErrorCode::kUsage, "{}: {}", option(info.id), fault_in(info, text));
}

Error no_such_option(std::string_view id) {
  return fail(ErrorCode::kUsage, "there is no option '{}'", printable(id));
}

std::string value_text(const OptionValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

}  // namespace hqmm::detail
