// Making rows of option tables: what a member's type says about its option.
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "hqmm/learn/enum_names.hpp"
#include "hqmm/learn/option_table.hpp"

namespace hqmm::detail {

template <typename T>
constexpr OptionType option_type_of() {
  if constexpr (std::is_same_v<T, bool>) return OptionType::kSwitch;
  if constexpr (std::is_same_v<T, std::optional<std::size_t>>) return OptionType::kCountOrAuto;
  if constexpr (std::is_floating_point_v<T>) return OptionType::kNumber;
  if constexpr (std::is_enum_v<T>) return OptionType::kWord;
  return OptionType::kCount;
}

template <typename T>
OptionValue to_option_value(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(value));
  } else if constexpr (std::is_same_v<T, std::optional<std::size_t>>) {
    return value ? OptionValue(std::uint64_t{*value}) : OptionValue(std::string("auto"));
  } else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
    return value;
  } else if constexpr (std::is_signed_v<T>) {
    return std::int64_t{value};
  } else {
    return std::uint64_t{value};
  }
}

/// Of a value that checked() has let through.
template <typename T>
void from_option_value(const OptionValue& value, T& out) {
  if constexpr (std::is_enum_v<T>) {
    out = enum_named<T>(std::get<std::string>(value));
  } else if constexpr (std::is_same_v<T, std::optional<std::size_t>>) {
    const auto* count = std::get_if<std::uint64_t>(&value);
    out = count != nullptr ? T(*count) : T();
  } else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) {
    out = std::get<T>(value);
  } else {
    out = static_cast<T>(std::get<std::uint64_t>(value));
  }
}

/// The row of a member: its type says the option's type and words.
template <typename Options, typename T>
OptionRow<Options> option_row(T Options::*member, OptionInfo info) {
  if (info.type == OptionType::kText) info.type = option_type_of<T>();
  if constexpr (std::is_enum_v<T>) info.words = enum_words<T>();
  OptionRow<Options> row;
  static_cast<OptionInfo&>(row) = std::move(info);
  row.get = [member](const Options& options) { return to_option_value(options.*member); };
  row.put = [member](Options& options, const OptionValue& value) {
    from_option_value(value, options.*member);
  };
  return row;
}

}  // namespace hqmm::detail
