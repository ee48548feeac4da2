// Manual pages, from what the parser knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "support/command_page.hpp"

namespace hqmm::cli {
namespace {

/// Text that roff takes as it is: hyphens stay hyphens, a line never begins with a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// "hqmm-classify-fit", the name of the page.
std::string page_name(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string operand(const OptionPage& option) {
  const std::string name =
      "\\fI" + roff(option.names.front()) + "\\fR" + (option.repeated ? " …" : "");
  return option.required ? name : "[" + name + "]";
}

std::string synopsis(const CommandPage& command) {
  std::string out = ".B " + roff(command.name) + "\n";
  if (!command.commands.empty()) return out + "\\fICOMMAND\\fR [\\fIOPTION\\fR …]\n";
  out += "[\\fIOPTION\\fR …]";
  for (const OptionPage& option : command.options)
    if (option.positional) out += " " + operand(option);
  return out + "\n";
}

std::string option_text(const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  if (!option.value.empty() && !option.positional) names += " \\fI" + roff(option.value) + "\\fR";
  std::string out = ".TP\n" + names + "\n" + roff(option.help);
  if (!option.words.empty() && option.value.find('|') == std::string::npos)
    out += roff(fmt::format(" [{}]", fmt::join(option.words, ", ")));
  if (!option.default_text.empty()) out += " (default: " + roff(option.default_text) + ")";
  return out + "\n";
}

std::string arguments_text(const CommandPage& command) {
  std::string out;
  for (const OptionPage& option : command.options)
    if (option.positional) out += option_text(option);
  return out.empty() ? "" : ".SH ARGUMENTS\n" + out;
}

/// By the headlines of the help, in the order in which they first appear.
std::string options_text(const CommandPage& command) {
  std::vector<std::string> groups;
  std::map<std::string, std::string> texts;
  for (const OptionPage& option : command.options) {
    if (option.positional) continue;
    if (!texts.contains(option.group)) groups.push_back(option.group);
    texts[option.group] += option_text(option);
  }
  std::string out = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (group != "Options") out += ".SS " + roff(group) + "\n";
    out += texts.at(group);
  }
  return out;
}

std::string commands_text(const CommandPage& command) {
  if (command.commands.empty()) return "";
  std::string out = ".SH COMMANDS\n", group;
  for (const CommandPage& below : command.commands) {
    if (below.group != group) out += ".SS " + roff(group = below.group) + "\n";
    out +=
        fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(page_name(below.name)), roff(below.summary));
  }
  return out;
}

/// Paragraphs as text, indented lines and examples as they stand.
std::string footer_text(const std::string& footer) {
  std::string out = ".SH NOTES\n.PP\n";
  bool literal = false;
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with(' ');
    if (indented != literal) out += indented ? ".PP\n.nf\n" : ".fi\n";
    literal = indented;
    if (line.starts_with("Example") || line.starts_with("Try it")) {
      out += ".SH EXAMPLES\n";
    } else {
      out += line.empty() ? ".PP\n" : roff(line) + "\n";
    }
  }
  return out + (literal ? ".fi\n" : "");
}

std::string see_also(const CommandPage& command) {
  const std::size_t space = command.name.rfind(' ');
  if (space == std::string::npos) return "";
  return fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n",
                     roff(page_name(command.name.substr(0, space))));
}

}  // namespace

std::string manual_page(const CommandPage& command, const std::string& version) {
  const std::string name = page_name(command.name);
  std::string out = ".\\\" Written by 'hqmm manual'.\n";
  out += fmt::format(".TH {} 1 \"\" \"{}\" \"hqmm\"\n", upper(roff(name)), version);
  out += ".ad l\n";  // lines with long options could not be justified
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.summary));
  out += ".SH SYNOPSIS\n" + synopsis(command) + commands_text(command) + arguments_text(command) +
         options_text(command);
  if (!command.footer.empty()) out += footer_text(command.footer);
  return out + see_also(command);
}

}  // namespace hqmm::cli
