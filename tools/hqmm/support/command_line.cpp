#include "support/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "hqmm/core/fail.hpp"
#include "support/output.hpp"
#include "support/suggestion.hpp"
#include "support/terminal.hpp"

namespace hqmm::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// CLI11's message, or a better one for a word it does not know.
std::string explain(const CLI::App& app, const CLI::App& chosen, const CLI::ParseError& error,
                    int argc, char** argv) {
  if (&chosen == &app && argc > 1 && argv[1][0] != '-') {
    return fmt::format("there is no command '{}'{}", argv[1],
                       suggestion(argv[1], command_names(app)));
  }
  for (const std::string& word : chosen.remaining()) {
    if (word.starts_with("-")) {
      return fmt::format("there is no option '{}'{}", word,
                         suggestion(word.substr(0, word.find('=')), option_names(chosen)));
    }
  }
  const std::vector<std::string> commands = command_names(chosen);
  if (!commands.empty() && !chosen.remaining().empty()) {
    const std::string word = chosen.remaining().front();
    return fmt::format("there is no command '{} {}'{}", chosen.get_name(), word,
                       suggestion(word, commands));
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message;
}

/// CLI11's help without its notes on types: "X:FLOAT in [0 - 1]" is "X in [0 - 1]".
class HelpText : public CLI::Formatter {
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return without(Formatter::make_option_name(option, is_positional), "{false}");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return without(without(Formatter::make_option_opts(option), ":FLOAT"), ":POSITIVE");
  }
  static std::string without(std::string text, std::string_view part) {
    if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
    return text;
  }
};

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* chosen = &app;
  std::string help = app.get_name();
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().back();
    help += " " + chosen->get_name();
  }
  help += " --help";
  tell_line("hqmm: error: ",
            fmt::format("{} (see '{}')", explain(app, *chosen, error, argc, argv), help));
  return exit_status(ErrorCode::kUsage);
}

/// "hqmm classify fit".
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

/// Words of an option are kept in the name of its check, one in a line: CLI11 has no other place.
std::vector<std::string> words_of(CLI::Option* option) {
  std::vector<std::string> out;
  try {
    std::istringstream names(option->get_validator()->get_name());
    for (std::string word; std::getline(names, word);) out.push_back(word);
  } catch (const CLI::OptionNotFound&) {  // an option without a check
  }
  return out;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> out;
  for (const std::string& name : option.get_snames()) out.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

OptionPage page_of(CLI::Option* option) {
  OptionPage out;
  out.positional = option->get_positional();
  out.names = names_of(*option);
  out.group = option->get_group();
  out.help = option->get_description();
  out.required = option->get_required();
  if (option->get_type_size() == 0 || option->get_expected_max() == 0) return out;  // a flag
  const std::string type = option->get_type_name();
  out.value = type.substr(0, type.find(':'));  // without what a check adds
  out.default_text = option->get_default_str();
  out.words = words_of(option);
  out.repeated = option->get_expected_max() > 1;
  out.optional_value = option->get_expected_min() == 0;
  return out;
}

ValueCheck checked_by(const CLI::Validator& validator) {
  return {[validator](const std::string& text) { return validator(text); },
          validator.get_description()};
}

}  // namespace

ValueCheck number_between(double least, double most) { return checked_by(CLI::Range(least, most)); }
ValueCheck positive_number() { return checked_by(CLI::PositiveNumber); }

Option Option::check(const ValueCheck& check) const {
  std::string words;
  for (const std::string& word : check.words) words += word + "\n";
  option_->check(CLI::Validator([fault = check.fault](std::string& text) { return fault(text); },
                                check.shown, words));
  return *this;
}

Option Option::group(const std::string& headline) const {
  option_->group(headline);
  return *this;
}

Option Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::delimiter(char mark) const {
  option_->delimiter(mark);
  return *this;
}

Option Option::one_word() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::optional_value() const {
  option_->expected(0, 1);
  return *this;
}

Option Option::capture_default_str() const {
  option_->capture_default_str();
  return *this;
}

bool Option::given() const { return option_->count() > 0; }
std::string Option::name() const { return option_->get_name(); }
bool Option::has_long_name(const std::string& name) const { return option_->check_lname(name); }

Option Command::add_option(const std::string& names, const Target& target,
                           const std::string& help) const {
  return std::visit(
      [&](auto* variable) {
        if constexpr (std::is_same_v<decltype(variable), bool*>) {
          return add_flag(names, *variable, help);
        } else {
          return Option(app_->add_option(names, *variable, help));
        }
      },
      target.place_);
}

Option Command::add_flag(const std::string& names, bool& target, const std::string& help) const {
  return Option(app_->add_flag(names, target, help));
}

Option Command::add(const OptionText& text, const Target& target) const {
  return described(add_option(text.names, target, text.help), text);
}

Option Command::add(const OptionText& text,
                    const std::function<void(const std::string&)>& set) const {
  if (text.flag) {
    const auto set_flag = [set](std::int64_t count) { set(count > 0 ? "true" : "false"); };
    return described(Option(app_->add_flag_function(text.names, set_flag, text.help)), text);
  }
  return described(Option(app_->add_option_function<std::string>(text.names, set, text.help)),
                   text);
}

Option Command::described(Option option, const OptionText& text) {
  option.group(text.group);
  if (!text.flag) option.type_name(text.type_name);
  if (text.check) option.check(text.check);
  if (!text.default_text.empty()) option.option_->default_str(text.default_text);
  return option;
}

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return Command(app_->add_subcommand(name, help));
}

Command Command::group(const std::string& headline) const {
  app_->group(headline);
  return *this;
}

Command Command::footer(const std::string& text) const {
  app_->footer(text);
  return *this;
}

Command Command::callback(std::function<void()> run) const {
  app_->callback(std::move(run));
  return *this;
}

Command Command::require_subcommand() const {
  app_->require_subcommand(1);
  return *this;
}

Option Command::option(const std::string& name) const { return Option(app_->get_option(name)); }

std::vector<Option> Command::options() const {
  std::vector<Option> out;
  for (CLI::Option* option : app_->get_options()) out.emplace_back(option);
  return out;
}

Command Command::subcommand(const std::string& name) const {
  for (CLI::App* sub : app_->get_subcommands({}))
    if (sub->get_name() == name) return Command(sub);
  const std::string before = app_->get_parent() == nullptr ? "" : app_->get_name() + " ";
  throw fail(ErrorCode::kUsage, "there is no command '{}{}'{}", before, printable(name, 200),
             suggestion(name, command_names(*app_)));
}

std::string Command::help() const {
  return app_->get_formatter()->make_help(app_, full_name(*app_), CLI::AppFormatMode::Normal);
}

CommandPage Command::page() const {
  CommandPage out{
      full_name(*app_), app_->get_description(), app_->get_group(), app_->get_footer(), {}, {}};
  for (CLI::Option* option : app_->get_options())
    if (!option->get_group().empty()) out.options.push_back(page_of(option));
  for (CLI::App* sub : app_->get_subcommands({}))
    if (!sub->get_group().empty()) out.commands.push_back(Command(sub).page());
  return out;
}

CommandLine::CommandLine(const std::string& name, const std::string& help,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->set_version_flag("--version", version, "Print the version");
  app_->require_subcommand(1);
  app_->formatter(std::make_shared<HelpText>());
  app_->get_formatter()->column_width(34);
}

CommandLine::~CommandLine() = default;

void CommandLine::before_command(std::function<void()> run) {
  app_->parse_complete_callback(std::move(run));
}

int CommandLine::run(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
    return 0;
  } catch (const CLI::Success& done) {  // --help, --version
    std::ostringstream text, no_errors;
    const int code = app_->exit(done, text, no_errors);
    Output output(Readers::kPeople);
    output.write(text.str());
    output.finish();
    return code;
  } catch (const CLI::ParseError& error) {
    return usage_error(*app_, error, argc, argv);
  }
}

}  // namespace hqmm::cli
