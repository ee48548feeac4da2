// Completion for three shells, from what the parser knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "support/command_page.hpp"

namespace hqmm::cli {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// 'text' for bash and zsh.
std::string in_quotes(const std::string& text) {
  return "'" + replaced(text, "'", R"('\'')") + "'";
}
/// 'text' for fish, whose backslashes count between single quotes.
std::string fish_quotes(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::vector<std::string> names_of_commands(const CommandPage& command) {
  std::vector<std::string> out;
  for (const CommandPage& below : command.commands) out.push_back(below.last_name());
  return out;
}

std::vector<const CommandPage*> program_and_commands(const CommandPage& program) {
  std::vector<const CommandPage*> out = all_commands(program);
  out.insert(out.begin(), &program);
  return out;
}

/// "classify fit" as a part of a function's name.
std::string function_of(const CommandPage& command) {
  std::string out = command.name;
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return "_" + out;
}

// ---- bash ----

/// What the script's function gets to know: "@files", "@folders", "@none" or the words.
std::string bash_values(const OptionPage& option) {
  switch (value_kind(option)) {
    case ValueKind::kFiles:
      return "@files";
    case ValueKind::kFolders:
      return "@folders";
    case ValueKind::kWords:
      return fmt::format("{}", fmt::join(option.words, " "));
    case ValueKind::kNone:
      break;
  }
  return "@none";
}

/// The names whose values are known, and in one line those whose values are not.
std::string bash_value_cases(const std::vector<OptionPage>& options) {
  std::string out;
  std::vector<std::string> unknown;
  for (const OptionPage& option : options) {
    if (option.positional || option.value.empty() || option.optional_value) continue;
    if (value_kind(option) == ValueKind::kNone) {
      unknown.insert(unknown.end(), option.names.begin(), option.names.end());
    } else {
      out += fmt::format("        {}) values={} ;;\n", fmt::join(option.names, " | "),
                         in_quotes(bash_values(option)));
    }
  }
  if (unknown.empty()) return out;
  return out + fmt::format("        {}) values=@none ;;\n", fmt::join(unknown, " | "));
}

/// What stands where no option does: the commands below, words or files.
std::string bash_operands(const CommandPage& command) {
  if (!command.commands.empty())
    return fmt::format("{}", fmt::join(names_of_commands(command), " "));
  std::string out = "@none";
  for (const OptionPage& option : command.options)
    if (option.positional && out != "@files") out = bash_values(option);
  return out;
}

std::string bash_case(const CommandPage& command) {
  std::vector<std::string> names;
  for (const OptionPage& option : command.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  std::string out =
      fmt::format("    {})\n      options='{}'\n      operands={}\n", in_quotes(path_of(command)),
                  fmt::join(names, " "), in_quotes(bash_operands(command)));
  const std::string values = bash_value_cases(command.options);
  if (!values.empty()) out += "      case $previous in\n" + values + "      esac\n";
  return out + "      ;;\n";
}

constexpr const char* kBashHead = R"(# bash completion for hqmm, written by 'hqmm completion bash'

_hqmm_words() {  # of a value or an operand
  case $1 in
    @files) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    @folders) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    @none) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
  [[ $1 != @files && $1 != @folders ]] || compopt -o filenames 2>/dev/null || true
}

_hqmm() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' options='' operands='' values='' at
  # bash takes --option=value apart at the '='.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((at = 1; at < COMP_CWORD; ++at)); do
    [[ ${COMP_WORDS[at]} == -* ]] && continue
    command+=${command:+ }${COMP_WORDS[at]}
)";

constexpr const char* kBashTail = R"(  esac
  if [[ -n $values ]]; then
    _hqmm_words "$values" "$current"
  elif [[ $current == -* ]]; then
    _hqmm_words "$options" "$current"
  else
    _hqmm_words "$operands" "$current"
  fi
}

complete -F _hqmm hqmm
)";

// ---- zsh ----

/// What stands in an _arguments specification, inside single quotes.
std::string zsh_text(const std::string& text) {
  std::string out = text;
  for (const char* mark : {"\\", "[", "]", ":"})
    out = replaced(out, mark, std::string("\\") + mark);
  return replaced(out, "'", R"('\'')");
}

std::string zsh_action(const OptionPage& option) {
  switch (value_kind(option)) {
    case ValueKind::kFiles:
      return "_files";
    case ValueKind::kFolders:
      return "_files -/";
    case ValueKind::kWords:
      return fmt::format("({})", fmt::join(option.words, " "));
    case ValueKind::kNone:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionPage& option) {
  const std::string label = zsh_text(option.positional ? option.names.front() : option.value);
  const std::string value =
      option.value.empty() && !option.positional ? "" : ":" + label + ":" + zsh_action(option);
  if (option.positional) return "    '" + std::string(option.repeated ? "*" : "") + value + "'";
  const std::string help = "[" + zsh_text(option.help) + "]";
  const std::string colon = option.optional_value ? ":" : "";
  if (option.names.size() == 1 || option.repeated) {
    std::string out;
    for (const std::string& name : option.names)
      out += fmt::format("{}    '{}{}{}{}{}'", out.empty() ? "" : " \\\n",
                         option.repeated ? "*" : "", name, help, colon, value);
    return out;
  }
  return fmt::format("    '({})'{{{}}}'{}{}{}'", fmt::join(option.names, " "),
                     fmt::join(option.names, ","), help, colon, value);
}

std::string zsh_function(const CommandPage& command) {
  std::string out = function_of(command) + "() {\n";
  if (!command.commands.empty()) {
    out += "  local -a commands\n  if (( CURRENT == 2 )); then\n    commands=(\n";
    for (const CommandPage& below : command.commands)
      out += fmt::format("      '{}:{}'\n", below.last_name(), zsh_text(below.summary));
    out += "    )\n    [[ $words[2] == -* ]] || _describe command commands && return\n  else\n";
    out += "    case $words[2] in\n";
    for (const CommandPage& below : command.commands)
      out += fmt::format("      {}) shift words; (( CURRENT-- )); {} ; return ;;\n",
                         below.last_name(), function_of(below));
    out += "    esac\n  fi\n";
  }
  out += "  _arguments -s";
  for (const OptionPage& option : command.options) out += " \\\n" + zsh_option(option);
  return out + "\n}\n\n";
}

// ---- fish ----

std::string fish_value(const OptionPage& option) {
  switch (value_kind(option)) {
    case ValueKind::kFiles:
      return " -rF";
    case ValueKind::kFolders:
      return " -xa '(__fish_complete_directories)'";
    case ValueKind::kWords:
      return " -xa " + fish_quotes(fmt::format("{}", fmt::join(option.words, " ")));
    case ValueKind::kNone:
      break;
  }
  return " -x";
}

std::string fish_option(const std::string& start, const OptionPage& option) {
  std::string out = start;
  if (option.positional) {
    return option.words.empty() ? out + " -F\n" : out + " -f" + fish_value(option).substr(2) + "\n";
  }
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty() && !option.optional_value) out += fish_value(option);
  return out + " -d " + fish_quotes(option.help) + "\n";
}

constexpr const char* kFishHead = R"(# fish completion for hqmm, written by 'hqmm completion fish'

function __hqmm_at # the words so far begin with these; with --last they are these and no more
    set -l found
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a found $word
    end
    if test "$argv[1]" = --last
        set -e argv[1]
        test "$found" = "$argv"
    else
        string match -q -- "$argv *" "$found "
    end
end

complete -c hqmm -f
)";

}  // namespace

std::string bash_completion(const CommandPage& program) {
  std::string groups = "''";
  for (const CommandPage* command : all_commands(program))
    if (!command->commands.empty()) groups += " | " + in_quotes(path_of(*command));
  std::string out = kBashHead;
  out += fmt::format("    case $command in {}) ;; *) break ;; esac\n  done\n", groups);
  out += "  case $command in\n";
  for (const CommandPage* command : program_and_commands(program)) out += bash_case(*command);
  return out + kBashTail;
}

std::string zsh_completion(const CommandPage& program) {
  std::string out =
      "#compdef hqmm\n# zsh completion for hqmm, written by 'hqmm completion zsh'\n\n";
  for (const CommandPage* command : program_and_commands(program)) out += zsh_function(*command);
  return out + "_hqmm \"$@\"\n";
}

std::string fish_completion(const CommandPage& program) {
  std::string out = kFishHead;
  for (const CommandPage* command : program_and_commands(program)) {
    const std::string path = path_of(*command);
    const std::string last = path.empty() ? "--last" : "--last " + path;
    for (const CommandPage& below : command->commands) {
      out += fmt::format("complete -c hqmm -n '__hqmm_at {}' -a {} -d {}\n", last,
                         below.last_name(), fish_quotes(below.summary));
    }
    const std::string start =
        fmt::format("complete -c hqmm -n '__hqmm_at {}'", path.empty() ? last : path);
    for (const OptionPage& option : command->options) out += fish_option(start, option);
  }
  return out;
}

}  // namespace hqmm::cli
