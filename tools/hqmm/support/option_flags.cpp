#include "support/option_flags.hpp"

#include <fmt/format.h>

#include <utility>

#include "support/words.hpp"

namespace hqmm::cli {

OptionText flag_of(const OptionInfo& option, const std::string& default_text) {
  OptionText out;
  if (option.short_flag != '\0') out.names = fmt::format("-{},", option.short_flag);
  out.names += flag_words(option.id, "");
  if (!option.opposite.empty()) out.names += ",!" + flag_words(option.opposite, "");
  out.group = option.group;
  out.type_name = option.type_name;
  out.help = option.help;
  out.flag = option.type == OptionType::kSwitch;
  if (out.flag) return out;
  out.default_text = default_text;
  out.check = {[&option](const std::string& text) { return fault_in(option, text); },
               "",
               {option.words.begin(), option.words.end()}};
  return out;
}

Option add_flag_of(Command command, const OptionInfo& option, GivenOptions& given,
                   const std::string& default_text) {
  return command.add(flag_of(option, default_text), [&option, &given](const std::string& text) {
    given.insert_or_assign(std::string(option.id), parsed(option, text));
  });
}

}  // namespace hqmm::cli
