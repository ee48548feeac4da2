// Options as data: one row per option of TrainOptions and of ClassifierOptions. Everything
// done for every option is a loop over these rows: checks, files, flags and their help, grids, the
// parameters of the Python classes and their documentation.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hqmm/core/error.hpp"
#include "hqmm/learn/classifier_learner.hpp"
#include "hqmm/learn/options.hpp"
#include "hqmm/learn/recipes.hpp"

namespace hqmm::detail {

/// A value on its way to or from an option, of whichever kind the other side has.
using OptionValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// What a user has given, by id.
using GivenOptions = std::map<std::string, OptionValue, std::less<>>;

enum class OptionType {
  kSwitch,       // bool
  kCount,        // std::uint64_t
  kCountOrAuto,  // std::uint64_t, or "auto"
  kNumber,       // double
  kWord,         // one of `words`
  kBytes,        // std::uint64_t, written as 512M where that is shorter
  kText,         // checked where it is read
};

struct OptionRange {
  double least = 0.0;
  double most = std::numeric_limits<double>::max();  // infinity where that is a value, too
  bool without_least = false;
  bool without_most = false;
};

/// Everything about an option except where its value is kept.
struct OptionInfo {
  std::string_view id;         // the name of its member: latent_dim
  std::string_view group;      // headline of the help
  std::string_view type_name;  // what stands for its value in the help
  std::string_view help;       // one sentence
  char short_flag = '\0';
  OptionRange range{};
  std::string_view opposite{};          // of a switch: the name that turns it off
  std::string_view python_name{};       // where it is not the id
  std::vector<LearnerKind> learners{};  // those that use it; none: all
  bool only_kept = false;               // files hold it, but it is not set by its name
  bool by_data = false;                 // its default depends on the data
  bool passing = false;                 // for this time only: no file holds it
  // Derived from the member, unless given:
  OptionType type = OptionType::kText;
  std::vector<std::string_view> words{};

  [[nodiscard]] bool is_about(LearnerKind learner) const;
};

template <typename Options>
struct OptionRow : OptionInfo {
  std::function<OptionValue(const Options&)> get;
  std::function<void(Options&, const OptionValue&)> put;  // of a value that was checked
};
template <typename Options>
using OptionTable = std::vector<OptionRow<Options>>;

/// In the order of files.
[[nodiscard]] const OptionTable<TrainOptions>& train_option_table();
[[nodiscard]] const OptionTable<ClassifierOptions>& classifier_option_table();

/// "a whole number from 1 to 4096".
[[nodiscard]] std::string expected_text(const OptionInfo& option);
/// The value in the kind that the option's type says. Throws kUsage naming the option, what was
/// expected and what was found.
[[nodiscard]] OptionValue checked(const OptionInfo& option, const OptionValue& value);
/// What is wrong with a text as a value, "expected …, found '…'"; nothing when it is one.
[[nodiscard]] std::string fault_in(const OptionInfo& option, std::string_view text);
/// The value that a text says; throws as checked() does.
[[nodiscard]] OptionValue parsed(const OptionInfo& option, std::string_view text);
[[nodiscard]] Error no_such_option(std::string_view id);
/// The way parsed() reads it.
[[nodiscard]] std::string value_text(const OptionValue& value);

/// What a run takes when nothing is given, with what other learners take instead: "60 (em 600)".
[[nodiscard]] std::string default_text(const OptionRow<TrainOptions>& row);
/// The same of classifiers; nothing where the data decide.
[[nodiscard]] std::string default_text(const OptionRow<ClassifierOptions>& row);

template <typename Options>
void set_option(const OptionRow<Options>& row, Options& options, const OptionValue& value) {
  row.put(options, checked(row, value));
}

/// By id; nullptr if there is none.
template <typename Options>
[[nodiscard]] const OptionRow<Options>* find_option(const OptionTable<Options>& table,
                                                    std::string_view id) {
  for (const OptionRow<Options>& row : table) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

/// Throws kUsage for a value out of range, and for an id that is not in the table.
template <typename Options>
void set_options(const OptionTable<Options>& table, Options& options, const GivenOptions& given) {
  for (const auto& [id, value] : given) {
    const OptionRow<Options>* row = find_option(table, id);
    if (row == nullptr) throw no_such_option(id);
    set_option(*row, options, value);
  }
}

/// The recipe of the given learner and preset, overridden by the given options.
[[nodiscard]] TrainOptions recipe(const GivenOptions& given, std::string_view preset,
                                  std::size_t alphabet_size);
/// Throws kUsage if the given options of training cannot be combined.
void require_compatible(const GivenOptions& given);

/// Checks every value separately; require_usable checks combinations.
template <typename Options>
void require_in_range(const OptionTable<Options>& table, const Options& options) {
  for (const OptionRow<Options>& row : table) {
    if (row.type != OptionType::kText) static_cast<void>(checked(row, row.get(options)));
  }
}

}  // namespace hqmm::detail
